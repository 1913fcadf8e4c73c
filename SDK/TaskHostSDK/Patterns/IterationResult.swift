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

  /// A result for ``BackgroundTask/run(_:)``: success once it is complete, or noop if there was nothing to do; snooze if there is more to
  /// do.
  ///
  /// A run that expired before it completed any element is a retry: it could expire forever, and only the limit of attempts ends that.
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
