/// What became of one part of the requests that a bulk action is for.
public struct BulkResult: Sendable, Hashable {
  /// How many requests matched.
  public var matched = 0
  /// The requests that were changed, in the order of the action; with ``BulkAction/retry`` also those that failed because of them. Empty in a
  /// dry run.
  public var done: [RequestID] = []
  /// How many requests were changed, or in a dry run would be.
  public var changes = 0
  /// The requests that stay as they were, or in a dry run would, and why.
  public var refused: [RetriedRequests.Refused] = []
  /// The last request that was looked at: the next part begins after it. Nil if all were looked at.
  public var next: RequestID?

  /// Starts empty.
  public init() {}

  /// Adds what a further step has come to.
  public mutating func add(_ step: BulkResult) {
    matched += step.matched
    done += step.done
    changes += step.changes
    refused += step.refused
  }

  /// Why requests are refused, and how many for each reason: the most frequent first.
  public var reasons: [(reason: String, count: Int)] {
    var counts: [String: Int] = [:]
    for refusal in refused { counts[refusal.reason, default: 0] += 1 }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (reason: $0.key, count: $0.value) }
  }
}
