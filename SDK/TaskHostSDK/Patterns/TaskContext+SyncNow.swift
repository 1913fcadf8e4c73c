import FoundationEssentials

extension TaskContext {
  /// Submits a request that is to run at once, and coalesces it with what is there: one that waits for a later time under the same unique
  /// key is replaced, one that is due or runs already is kept.
  ///
  /// A run in progress does not see what changed after it looked: where that matters, use ``triggers(_:window:drainedBy:)``, which runs
  /// again. What is replaced loses its checkpoint and its attempts; the new one carries the payload given here.
  ///
  /// - Parameter request: Its ``TaskRequest/earliestBegin`` and ``TaskRequest/onConflict`` are not used. Without a unique key it gets `sync`.
  /// - Returns: What became of it; `kept`: the request that is due or runs.
  /// - Throws: ``TaskHostError`` as ``submit(_:)``.
  @discardableResult
  public func syncNow(_ request: TaskRequest) throws(TaskHostError) -> Submission {
    try run.submitNow(request)
  }
}

extension RunHandle {
  /// As ``TaskContext/syncNow(_:)``.
  func submitNow(_ request: TaskRequest) throws(TaskHostError) -> Submission {
    var request = request
    request.earliestBegin = nil
    request.uniqueKey = request.uniqueKey ?? "sync"
    request.onConflict = .keep
    let submission = try submit(request)
    guard submission.disposition == .kept, submission.nextStart > now else { return submission }
    request.onConflict = .replace
    return try submit(request)
  }
}
