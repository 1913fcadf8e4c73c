import CTaskHost
import TaskModel

extension HostTable {
  /// The functions of the run phase that return only when their effect is durable.
  static func fillDurable(_ table: inout taskhost_api) {
    table.state_get = { task, key, buffer, capacity, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let key = try Borrowed.key(key)
        try HostTable.check(buffer, capacity: capacity, length: length)
        guard let value = try run.services.state(key, for: run.context) else {
          throw CallFailure(.notFound, "the state has no key \"\(key.escapingControlCharacters)\"")
        }
        try HostTable.copy(value, to: buffer, capacity: capacity, length: length)
      }
    }
    table.state_set = { task, key, bytes, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let key = try Borrowed.key(key)
        let value = try Borrowed.bytes(bytes, length, named: "value", limit: Limits.stateValueBytes)
        try run.services.setState(key, to: bytes == nil ? nil : value, for: run.context)
      }
    }
    table.checkpoint_get = { task, buffer, capacity, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        try HostTable.check(buffer, capacity: capacity, length: length)
        guard let value = try run.services.checkpoint(for: run.context) else {
          throw CallFailure(.notFound, "the request has no checkpoint")
        }
        try HostTable.copy(value, to: buffer, capacity: capacity, length: length)
      }
    }
    table.checkpoint_set = { task, bytes, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let value = try Borrowed.bytes(bytes, length, named: "checkpoint", limit: Limits.stateValueBytes)
        try run.services.setCheckpoint(bytes == nil ? nil : value, for: run.context)
      }
    }
    table.submit = { task, request, submission in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        try HostTable.check(submission)
        HostTable.fill(submission, try run.services.submit(try TaskRequest(borrowed: request), for: run.context))
      }
    }
    table.cancel = { task, request in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        try run.services.cancel(try HostTable.request(request), for: run.context)
      }
    }
  }

  /// The id of a request.
  static func request(_ pointer: UnsafePointer<CChar>?) throws(CallFailure) -> RequestID {
    let text = try Borrowed.text(pointer, named: "request_id", limit: 256)
    guard let id = RequestID(text) else { throw CallFailure(.invalid, "\"\(text.escapingControlCharacters)\" is not a request id") }
    return id
  }

  /// Refuses an invalid place for an answer before anything is done; NULL wants none.
  static func check(_ submission: UnsafeMutablePointer<taskhost_submission>?) throws(CallFailure) {
    guard let submission else { return }
    _ = try Borrowed.structure(UnsafePointer(submission), named: "submission", empty: taskhost_submission())
  }

  /// Writes an answer, if the plugin wants one.
  static func fill(_ submission: UnsafeMutablePointer<taskhost_submission>?, _ made: Submission) {
    guard let submission else { return }
    submission.pointee.disposition = made.disposition.code
    submission.pointee.next_start_unix_ms = made.nextStart.unixMilliseconds
    withUnsafeMutableBytes(of: &submission.pointee.request_id) { bytes in
      _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
      bytes.copyBytes(from: made.id.description.utf8.prefix(bytes.count - 1))
    }
  }

  /// Refuses an invalid output buffer before looking anything up.
  static func check(_ buffer: UnsafeMutableRawPointer?, capacity: Int, length: UnsafeMutablePointer<Int>?) throws(CallFailure) {
    guard length != nil else { throw CallFailure(.invalid, "length is NULL") }
    guard buffer != nil || capacity == 0 else {
      throw CallFailure(.invalid, "buffer is NULL with a capacity of \(UInt(bitPattern: capacity))")
    }
  }

  static func copy(
    _ value: [UInt8], named name: String = "the value", to buffer: UnsafeMutableRawPointer?, capacity: Int,
    length: UnsafeMutablePointer<Int>?
  ) throws(CallFailure) {
    length?.pointee = value.count
    // The capacity is a size_t: a negative number stands for one larger than any value.
    guard UInt(value.count) <= UInt(bitPattern: capacity) else {
      throw CallFailure(.tooBig, "\(name) has \(value.count) bytes, the buffer \(capacity)")
    }
    value.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress, let buffer { buffer.copyMemory(from: base, byteCount: bytes.count) }
    }
  }
}
