/// How an iteration of one run ended.
public struct IterationResult: Sendable, Equatable, CustomStringConvertible {
  /// Elements that this run has completed.
  public let completed: Int

  /// Elements that earlier runs of the request had completed and this one has passed over.
  public let skipped: Int

  /// What stopped it; `nil`: it has come to the end.
  public let limit: WorkLimit?

  /// Whether it has come to the end.
  public var isComplete: Bool { limit == nil }

  /// What ``BackgroundTask/run(_:)`` may return: success, or noop where there was nothing to do, once it is complete; snooze when there is
  /// more to do.
  ///
  /// A run that expired before it completed a single element is a retry: it would expire forever, and only attempts end that.
  public var taskResult: TaskResult {
    if isComplete { return completed + skipped == 0 ? .noop : .success }
    return completed == 0 ? .retry() : .snooze()
  }

  /// A sentence for the operator.
  public var description: String {
    let before = skipped == 0 ? "" : ", \(skipped) before"
    guard let limit else { return "complete: \(completed) items\(before)" }
    return "stopped after \(completed) items\(before): \(limit); the next run goes on from there"
  }
}
