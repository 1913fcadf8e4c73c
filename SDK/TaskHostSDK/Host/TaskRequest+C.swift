package import CTaskHost

extension TaskRequest {
  /// Calls `body` with the request in its C form. The pointer and everything it points to are valid during the call.
  ///
  /// - Throws: `TASKHOST_EINVAL` when a string holds a NUL byte.
  func withCValue<Result>(_ body: (UnsafePointer<taskhost_request>) -> Result) throws(TaskHostError) -> Result {
    try withCValue(earliestBegin: earliestBegin?.earliestBeginMilliseconds ?? 0, body)
  }

  /// Like ``withCValue(_:)``, with another `earliest_begin_unix_ms`.
  package func withCValue<Result>(
    earliestBegin: Int64, _ body: (UnsafePointer<taskhost_request>) -> Result
  ) throws(TaskHostError) -> Result {
    let identifier = try CStrings.checked(identifier, "the request's identifier")
    var key: String?
    if let uniqueKey { key = try CStrings.checked(uniqueKey, "the request's unique key") }
    return identifier.withCString { cIdentifier in
      CStrings.with(key) { cKey in
        payload.withUnsafeBytes { bytes in
          var request = taskhost_request()
          request.struct_size = UInt32(MemoryLayout<taskhost_request>.size)
          request.conditions = conditions.rawValue
          request.identifier = cIdentifier
          request.payload = bytes.isEmpty ? nil : bytes.baseAddress
          request.payload_length = UInt64(bytes.count)
          request.earliest_begin_unix_ms = earliestBegin
          request.unique_key = cKey
          request.on_conflict = onConflict.cValue
          return body(&request)
        }
      }
    }
  }
}
