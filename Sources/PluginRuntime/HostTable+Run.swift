import CTaskHost
import Glibc
import TaskModel

extension HostTable {
  /// The functions of the run phase that concern the run alone.
  static func fillRunPhase(_ table: inout taskhost_api) {
    table.payload = { task, bytes, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        guard let bytes, let length else { throw CallFailure(.invalid, "bytes or length is NULL") }
        let (base, count) = try run.payloadBytes()
        bytes.pointee = base
        length.pointee = count
      }
    }
    table.identifier = { task in
      HostTable.pointer(orElse: StaticText.empty) { () throws(CallFailure) in
        StaticText.of(try RunTable.shared.live(task).order.contract.identifier)
      }
    }
    table.request_id = { task in
      HostTable.pointer(orElse: StaticText.empty) { () throws(CallFailure) in try RunTable.shared.find(task).requestIDText() }
    }
    table.attempt = { task in
      HostTable.value(orElse: 0) { () throws(CallFailure) in UInt32(clamping: try RunTable.shared.live(task).order.attempt) }
    }
    table.remaining_ms = { task in
      HostTable.value(orElse: Int64.min) { () throws(CallFailure) in try RunTable.shared.find(task).remainingMilliseconds() }
    }
    table.grace_ms = { task in
      HostTable.value(orElse: 0) { () throws(CallFailure) in try RunTable.shared.find(task).graceMilliseconds() }
    }
    table.is_expired = { task in
      HostTable.value(orElse: 1) { () throws(CallFailure) in
        let run = try RunTable.shared.find(task)
        return try run.whileLive { run.stop == nil ? 0 : 1 }
      }
    }
    table.stop_reason = { task in
      HostTable.value(orElse: taskhost_stop_reason(TASKHOST_STOP_NONE)) { () throws(CallFailure) in
        let run = try RunTable.shared.find(task)
        return try run.whileLive { run.stop?.code ?? taskhost_stop_reason(TASKHOST_STOP_NONE) }
      }
    }
    table.expiration_fd = { task in
      HostTable.value(orElse: -1) { () throws(CallFailure) in try RunTable.shared.find(task).descriptor() }
    }
    table.set_expiration_handler = { task, handler, context in
      answer { () throws(CallFailure) in
        try RunTable.shared.findWithForced(task).setExpirationHandler(handler, context: context)
      }
    }
    table.progress = { task, completed, total in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.find(task)
        guard let progress = try run.setProgress(completed: completed, total: total) else { return }
        run.sink(.progress(run.context, progress))
      }
    }
    table.log = { task, level, message in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let text = try Borrowed.message(message, named: "message")
        let line = LogLine(time: run.services.wallTime, level: try LogLine.Level(level), message: text)
        for line in try run.log(line) { run.sink(.log(run.context, line)) }
      }
    }
    table.set_output = { task, bytes, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let output = try Borrowed.bytes(bytes, length, named: "output", limit: Limits.payloadBytes)
        try run.change { $0.output = output }
      }
    }
    table.set_message = { task, message in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let text = try Borrowed.message(message, named: "message")
        try run.change { $0.message = text }
      }
    }
    table.retry_after = { task, delay in
      answer { () throws(CallFailure) in
        try RunTable.shared.find(task).change { $0.retryAfter = .milliseconds(Int64(clamping: delay)) }
      }
    }
    table.now_unix_ms = { task in
      HostTable.value(orElse: 0) { () throws(CallFailure) in
        try RunTable.shared.live(task).services.wallTime.unixMilliseconds
      }
    }
    table.sleep = { task, milliseconds in
      answer { () throws(CallFailure) in
        try RunTable.shared.find(task).sleep(.milliseconds(Int64(clamping: milliseconds)))
      }
    }
  }
}
