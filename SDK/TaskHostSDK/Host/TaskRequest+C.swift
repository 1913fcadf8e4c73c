package import CTaskHost

extension TaskRequest {
  /// Calls `body` with the request in its C form. The pointer and everything it points to are valid during the call.
  ///
  /// - Throws: `TASKHOST_EINVAL` when a string holds a NUL byte, or a number would mean something else in C.
  func withCValue<Result>(_ body: (UnsafePointer<taskhost_request>) -> Result) throws(TaskHostError) -> Result {
    try withCValue(earliestBegin: earliestBegin?.earliestBeginMilliseconds ?? 0, body)
  }

  /// Like ``withCValue(_:)``, with another `earliest_begin_unix_ms`.
  package func withCValue<Result>(
    earliestBegin: Int64, _ body: (UnsafePointer<taskhost_request>) -> Result
  ) throws(TaskHostError) -> Result {
    let request = try CRequest(self, earliestBegin: earliestBegin)
    return withExtendedLifetime(request) {
      var value = request.value
      return body(&value)
    }
  }
}
