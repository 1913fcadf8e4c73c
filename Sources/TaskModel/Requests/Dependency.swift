/// A request that must end before another may run: an edge of a graph.
public struct Dependency: Sendable, Hashable {
  /// What happens to the dependant when the predecessor does not succeed.
  public enum FailurePolicy: String, Sendable, CaseIterable {
    /// The dependant ends as the predecessor did, failed or cancelled, and names it.
    case fail
    /// The dependant runs anyway.
    case ignore
  }

  /// A request that must end first.
  public enum Predecessor: Sendable, Hashable {
    /// An existing request.
    case request(RequestID)
    /// The request at that position in the same submission, from 0.
    case position(Int)
  }

  /// The request that must end first.
  public var predecessor: Predecessor
  /// What happens to the dependant when the predecessor does not succeed.
  public var onFailure: FailurePolicy

  /// Creates an edge.
  public init(_ predecessor: Predecessor, onFailure: FailurePolicy = .fail) {
    self.predecessor = predecessor
    self.onFailure = onFailure
  }
}

/// A dependency in the store.
public struct DependencyRecord: Sendable, Hashable {
  /// The request that must end first.
  public var predecessor: RequestID
  /// What happens to the dependant when the predecessor does not succeed.
  public var onFailure: Dependency.FailurePolicy
  /// The predecessor's final state; nil if it has not ended.
  public var ended: RequestState?
  /// The output of the predecessor's handler; empty until the predecessor has ended, and if it has no output.
  public var output: [UInt8]

  /// Creates an edge.
  public init(predecessor: RequestID, onFailure: Dependency.FailurePolicy, ended: RequestState? = nil, output: [UInt8] = []) {
    self.predecessor = predecessor
    self.onFailure = onFailure
    self.ended = ended
    self.output = output
  }
}
