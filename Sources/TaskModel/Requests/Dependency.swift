/// A request that must end before another may run: an edge of a graph.
public struct Dependency: Sendable, Hashable {
  /// What becomes of the dependant when the predecessor does not succeed.
  public enum FailurePolicy: String, Sendable, CaseIterable {
    /// It ends as the predecessor did, failed or cancelled, and names it.
    case fail
    /// It runs anyway.
    case ignore
  }

  /// The predecessor.
  public enum Predecessor: Sendable, Hashable {
    /// An existing request.
    case request(RequestID)
    /// The request at that position of the same submission, from 0.
    case position(Int)
  }

  /// Which request must end first.
  public var predecessor: Predecessor
  /// What becomes of the dependant when it does not succeed.
  public var onFailure: FailurePolicy

  /// Creates an edge.
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
  /// How the predecessor ended; nil if it has not.
  public var ended: RequestState?
  /// The output of the predecessor's handler; empty until it has ended, and if it has no output.
  public var output: [UInt8]

  /// Creates an edge.
  public init(predecessor: RequestID, onFailure: Dependency.FailurePolicy, ended: RequestState? = nil, output: [UInt8] = []) {
    self.predecessor = predecessor
    self.onFailure = onFailure
    self.ended = ended
    self.output = output
  }
}
