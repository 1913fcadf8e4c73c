/// A request that must end before another may run: an edge of a graph.
public struct Dependency: Sendable, Hashable {
  /// What becomes of the dependant when the predecessor does not succeed.
  public enum FailurePolicy: String, Sendable, CaseIterable {
    /// It ends as the predecessor did, failed or cancelled, and names it.
    case fail
    /// It runs all the same.
    case ignore
  }

  /// The predecessor.
  public enum Predecessor: Sendable, Hashable {
    /// A request that is there.
    case request(RequestID)
    /// The request at that position of the same submission, from 0.
    case position(Int)
  }

  /// Which request must end first.
  public var predecessor: Predecessor
  /// What becomes of the dependant when it does not succeed.
  public var onFailure: FailurePolicy

  /// An edge as given.
  public init(_ predecessor: Predecessor, onFailure: FailurePolicy = .fail) {
    self.predecessor = predecessor
    self.onFailure = onFailure
  }
}

/// An edge as the store keeps it.
public struct DependencyRecord: Sendable, Hashable {
  /// Which request must end first.
  public var predecessor: RequestID
  /// What becomes of the dependant when it does not succeed.
  public var onFailure: Dependency.FailurePolicy
  /// How the predecessor ended; nil: it has not.
  public var ended: RequestState?
  /// What the predecessor's handler gave out; empty until it has ended, and where it gave nothing.
  public var output: [UInt8]

  /// An edge as given.
  public init(predecessor: RequestID, onFailure: Dependency.FailurePolicy, ended: RequestState? = nil, output: [UInt8] = []) {
    self.predecessor = predecessor
    self.onFailure = onFailure
    self.ended = ended
    self.output = output
  }
}
