/// How an iteration of one run ended.
public struct IterationResult: Sendable, Equatable, CustomStringConvertible {
  /// Elements that this run has completed.
  public let completed: Int

  /// Elements that earlier runs of the request completed and this run skipped.
  public let skipped: Int

  /// The limit that stopped it; `nil` if it is complete.
  public let limit: WorkLimit?

  /// Whether it reached the end.
  public var isComplete: Bool { limit == nil }

  /// The result for ``BackgroundTask/run(_:)``: success when complete, noop if there was nothing to do, snooze if work is left.
  ///
  /// A run that expired before completing any element is a retry: it could expire forever, and only the limit of attempts ends that.
  public var taskResult: TaskResult {
    if isComplete { return completed + skipped == 0 ? .noop : .success }
    return completed == 0 ? .retry() : .snooze()
  }

  /// A summary for the operator.
  public var description: String {
    let before = skipped == 0 ? "" : ", \(skipped) before"
    guard let limit else { return "complete: \(completed) items\(before)" }
    return "stopped after \(completed) items\(before): \(limit); the next run goes on from there"
  }
}
