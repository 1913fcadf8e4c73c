import FoundationEssentials

extension TaskContext {
  /// Submits a request to run immediately, and merges it with an existing one of the same unique key: it replaces a request that waits for
  /// a later time, and keeps one that is due or running.
  ///
  /// A run in progress does not see later changes. If that matters, use ``triggers(_:window:drainedBy:)``, which runs again. A replaced
  /// request loses its checkpoint and its attempts; the new one has the payload given here.
  ///
  /// - Parameter request: Its ``TaskRequest/earliestBegin`` and ``TaskRequest/onConflict`` are ignored. Without a unique key, it gets
  ///   `sync`.
  /// - Returns: The effect of the submission; `kept` if a request was due or running.
  /// - Throws: The ``TaskHostError`` codes of ``submit(_:)``.
  @discardableResult
  public func syncNow(_ request: TaskRequest) throws(TaskHostError) -> Submission {
    try run.submitNow(request)
  }
}

extension RunHandle {
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
