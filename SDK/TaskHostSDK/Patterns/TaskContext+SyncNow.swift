import FoundationEssentials

extension TaskContext {
  /// Submits a request to run immediately, and merges it with an existing one of the same unique key: a request that waits for a later time
  /// is replaced, one that is due or running is kept.
  ///
  /// A run in progress does not see later changes: if that matters, use ``triggers(_:window:drainedBy:)``, which runs again. A replaced
  /// request loses its checkpoint and its attempts; the new one has the payload given here.
  ///
  /// - Parameter request: Its ``TaskRequest/earliestBegin`` and ``TaskRequest/onConflict`` are not used. Without a unique key it gets
  ///   `sync`.
  /// - Returns: The result of the submission; `kept` if a request was due or running.
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
