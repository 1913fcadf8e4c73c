import CTaskHost
import TaskHostSDK

extension HostTable {
  /// The functions of the run phase that reach the store.
  static func fillDurable(_ table: inout taskhost_api) {
    table.state_get = { task, key, buffer, capacity, length in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          let key = try Borrowed.key(key)
          try HostTable.check(buffer, capacity: capacity, length: length)
          try core.reachStore(.stateGet, run)
          guard let value = core.memory[run.report.identifier]?.values[key] else {
            throw CallFailure(TASKHOST_ENOTFOUND, "the state has no key \"\(key.escapingControlCharacters)\"")
          }
          try HostTable.copy(value, to: buffer, capacity: capacity, length: length)
        }
      }
    }
    table.state_set = { task, key, bytes, length in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          let key = try Borrowed.key(key)
          let value = try Borrowed.bytes(bytes, length, named: "value", limit: Borrowed.valueLimit)
          try core.setState(run, key, bytes == nil ? nil : value)
        }
      }
    }
    table.checkpoint_get = { task, buffer, capacity, length in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          try HostTable.check(buffer, capacity: capacity, length: length)
          try core.reachStore(.checkpointGet, run)
          guard let value = core.requests[run.report.requestID]?.checkpoint else {
            throw CallFailure(TASKHOST_ENOTFOUND, "the request has no checkpoint")
          }
          try HostTable.copy(value, to: buffer, capacity: capacity, length: length)
        }
      }
    }
    table.checkpoint_set = { task, bytes, length in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          let value = try Borrowed.bytes(bytes, length, named: "checkpoint", limit: Borrowed.valueLimit)
          try core.setCheckpoint(run, bytes == nil ? nil : value)
        }
      }
    }
    table.submit = { task, request, submission in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          if let submission { _ = try Borrowed.structure(UnsafePointer(submission), named: "submission", empty: taskhost_submission()) }
          let made = try core.submit(try Borrowed.request(request), by: run)
          if let submission { HostTable.fill(submission, made) }
        }
      }
    }
    table.cancel = { task, request in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          try core.cancel(run, try Borrowed.text(request, named: "request_id", limit: 256))
        }
      }
    }
  }

  private static func fill(_ submission: UnsafeMutablePointer<taskhost_submission>, _ made: SubmissionAnswer) {
    submission.pointee.disposition = made.disposition
    submission.pointee.next_start_unix_ms = made.nextStartUnixMilliseconds
    withUnsafeMutableBytes(of: &submission.pointee.request_id) { bytes in
      _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
      bytes.copyBytes(from: made.id.utf8.prefix(bytes.count - 1))
    }
  }

  /// Refuses a place for an answer that cannot be one, before anything is looked up.
  private static func check(_ buffer: UnsafeMutableRawPointer?, capacity: Int, length: UnsafeMutablePointer<Int>?) throws(CallFailure) {
    guard length != nil else { throw CallFailure(TASKHOST_EINVAL, "length is NULL") }
    guard buffer != nil || capacity == 0 else {
      throw CallFailure(TASKHOST_EINVAL, "buffer is NULL with a capacity of \(UInt(bitPattern: capacity))")
    }
  }

  private static func copy(
    _ value: [UInt8], to buffer: UnsafeMutableRawPointer?, capacity: Int, length: UnsafeMutablePointer<Int>?
  ) throws(CallFailure) {
    length?.pointee = value.count
    // The capacity is a size_t: what would be negative is larger than any value.
    guard UInt(value.count) <= UInt(bitPattern: capacity) else {
      throw CallFailure(TASKHOST_ETOOBIG, "the value has \(value.count) bytes, the buffer \(capacity)")
    }
    value.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress, let buffer { buffer.copyMemory(from: base, byteCount: bytes.count) }
    }
  }
}
