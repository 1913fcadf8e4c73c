/// The dead letters that were discarded together.
public struct DiscardedRequests: Sendable, Hashable {
  /// Those that were discarded, the oldest first.
  public var discarded: [RequestID] = []
  /// The last one that was looked at, if there are more: the rest begins after it. Nil: all were looked at.
  public var last: RequestID?

  /// None yet.
  public init() {}
}
