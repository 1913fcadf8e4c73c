import CTaskHost
import TaskHostSDK

extension HostTable {
  /// The functions of the run phase that concern the run alone.
  static func fillRunPhase(_ table: inout taskhost_api) {
    table.payload = { task, bytes, length in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in
          guard let bytes, let length else { throw CallFailure(TASKHOST_EINVAL, "bytes or length is NULL") }
          bytes.pointee = UnsafeRawPointer(run.payloadMemory)
          length.pointee = run.report.payload.count
        }
      }
    }
    table.identifier = { task in
      HostTable.value(orElse: HostTable.emptyText) { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in UnsafePointer(run.identifierText) }
      }
    }
    table.request_id = { task in
      HostTable.value(orElse: HostTable.emptyText) { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in UnsafePointer(run.requestIDText) }
      }
    }
    table.attempt = { task in
      HostTable.value(orElse: 0) { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in UInt32(clamping: run.report.attempt) }
      }
    }
    table.progress = { task, completed, total in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in try core.progress(run, completed, total) }
      }
    }
    table.log = { task, level, message in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (core, run) throws(CallFailure) in
          let text = try Borrowed.message(message, named: "message")
          run.report.log.append(LogLine(time: core.now, level: try HostTable.level(level), message: text))
        }
      }
    }
    table.set_output = { task, bytes, length in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in
          let output = try Borrowed.bytes(bytes, length, named: "output", limit: Borrowed.payloadLimit)
          run.report.output = bytes == nil ? nil : output
        }
      }
    }
    table.set_message = { task, message in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in run.report.message = try Borrowed.message(message, named: "message") }
      }
    }
    table.retry_after = { task, delay in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in run.report.retryAfter = .milliseconds(Int64(clamping: delay)) }
      }
    }
    table.now_unix_ms = { task in
      HostTable.value(orElse: 0) { () throws(CallFailure) in
        try HostTable.run(task, looks: true) { (core, _) throws(CallFailure) in core.wallMilliseconds }
      }
    }
    table.sleep = { task, milliseconds in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task, looks: true) { (core, run) throws(CallFailure) in
          guard run.report.stopReason == .none else { throw .expired }
          try core.sleep(run, for: .milliseconds(Int64(clamping: milliseconds)), untilExpired: true)
        }
      }
    }
  }

  static func level(_ code: taskhost_log_level) throws(CallFailure) -> Logger.Level {
    guard let level = Logger.Level(cValue: code) else {
      throw CallFailure(TASKHOST_EINVAL, "log level \(code) is none of TASKHOST_TRACE … TASKHOST_ERROR")
    }
    return level
  }
}
