import CTaskHost
import Foundation

/// A request that waits at the fake host, copied out of C.
struct FakeRequest: Equatable, Sendable {
  let id: String
  let identifier: String
  let payload: [UInt8]
  let conditions: Int
  let earliestBegin: Int64
  let onConflict: Int
  let resources: [String: UInt64]

  init(id: String, identifier: String, payload: String) {
    self.id = id
    self.identifier = identifier
    self.payload = Array(payload.utf8)
    conditions = 0
    earliestBegin = 0
    onConflict = 0
    resources = [:]
  }

  init(id: String, _ request: taskhost_request) {
    self.id = id
    identifier = FakeTable.text(request.identifier)
    payload = FakeTable.bytes(request.payload, Int(request.payload_length))
    conditions = Int(request.conditions)
    earliestBegin = request.earliest_begin_unix_ms
    onConflict = Int(request.on_conflict)
    let named = UnsafeBufferPointer(start: request.resources, count: Int(request.resources_count))
    resources = Dictionary(named.map { (FakeTable.text($0.name), $0.tokens) }) { first, _ in first }
  }

  var text: String { String(decoding: payload, as: UTF8.self) }
}
