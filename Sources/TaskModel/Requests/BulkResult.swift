/// What became of one part of the requests that a bulk action is for.
public struct BulkResult: Sendable, Hashable {
  /// How many requests matched.
  public var matched = 0
  /// The requests that were changed, in the order of the action; with ``BulkAction/retry`` also those that failed because of them. Empty in a
  /// dry run.
  public var done: [RequestID] = []
  /// The requests that stay as they were, and why.
  public var refused: [RetriedRequests.Refused] = []
  /// The last request that was looked at: the next part begins after it. Nil if all were looked at.
  public var next: RequestID?

  /// Starts empty.
  public init() {}
}
