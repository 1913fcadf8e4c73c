/// The dead letters that were discarded together.
public struct DiscardedRequests: Sendable, Hashable {
  /// The discarded requests, oldest first.
  public var discarded: [RequestID] = []
  /// The last request that was examined, if there are more; the next call starts after it. Nil if all were examined.
  public var last: RequestID?

  /// Starts empty.
  public init() {}
}
