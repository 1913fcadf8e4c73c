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
        bytes.pointee = try run.payloadBytes().start
        length.pointee = run.order.payload.count
      }
    }
    table.identifier = { task in
      HostTable.pointer(orElse: StaticText.empty) { () throws(CallFailure) in
        try StaticText.of(try RunTable.shared.live(task).order.contract.identifier)
      }
    }
    table.request_id = { task in
      HostTable.pointer(orElse: StaticText.empty) { () throws(CallFailure) in try RunTable.shared.find(task).requestIDText().text }
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
        try RunTable.shared.find(task).whileLive { $0.machine.report.stopReason == nil ? 0 : 1 }
      }
    }
    table.stop_reason = { task in
      HostTable.value(orElse: taskhost_stop_reason(TASKHOST_STOP_NONE)) { () throws(CallFailure) in
        try RunTable.shared.find(task).whileLive { $0.machine.report.stopReason?.code ?? taskhost_stop_reason(TASKHOST_STOP_NONE) }
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
        try RunTable.shared.find(task).advance(RunProgress(completed: completed, total: total))
      }
    }
    table.log = { task, level, message in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let text = try Borrowed.message(message, named: "message")
        try run.log(LogLine(time: run.services.wallTime, level: try LogLine.Level(level), message: text))
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
