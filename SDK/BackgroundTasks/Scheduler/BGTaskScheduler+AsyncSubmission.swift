import Dispatch

extension BGTaskScheduler {
  /// Submits like ``submit(_:)``, and calls the completion handler on a background queue, with `nil` if the request was accepted.
  public func submitTaskRequest(_ taskRequest: BGTaskRequest, completionHandler: @escaping @Sendable ((any Swift.Error)?) -> Void) {
    let request = taskRequest.duplicate()
    core.callBack { [core] in
      do {
        try core.submit(request)
        completionHandler(nil)
      } catch {
        completionHandler(error)
      }
    }
  }

  /// Submits like ``submit(_:)``, without blocking the caller's thread.
  ///
  /// - Throws: ``BGTaskScheduler/Error``.
  public func submitTaskRequest(_ taskRequest: BGTaskRequest) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Swift.Error>) in
      submitTaskRequest(taskRequest) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }
}
