import CTaskHost

/// A request a plugin submitted, copied out of C.
struct FakeRequest: Equatable, Sendable {
  let identifier: String
  let payload: String
  let earliestBegin: Int64
  let uniqueKey: String?
  let onConflict: Int
  let conditions: Int

  init(_ request: taskhost_request) {
    identifier = request.identifier.map { String(cString: $0) } ?? "NULL"
    payload = String(decoding: UnsafeRawBufferPointer(start: request.payload, count: Int(request.payload_length)), as: UTF8.self)
    earliestBegin = request.earliest_begin_unix_ms
    uniqueKey = request.unique_key.map { String(cString: $0) }
    onConflict = Int(request.on_conflict)
    conditions = Int(request.conditions)
  }
}
