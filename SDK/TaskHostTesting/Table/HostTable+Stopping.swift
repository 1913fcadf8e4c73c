import CTaskHost

extension HostTable {
  /// The functions by which a run learns that it must end.
  static func fillStopping(_ table: inout taskhost_api) {
    table.remaining_ms = { task in
      HostTable.value(orElse: Int64.min) { () throws(CallFailure) in
        try HostTable.run(task, looks: true) { (core, run) throws(CallFailure) in run.remaining(at: core.now) }
      }
    }
    table.grace_ms = { task in
      HostTable.value(orElse: 0) { () throws(CallFailure) in
        try HostTable.run(task, looks: true) { (core, run) throws(CallFailure) in
          max(0, (run.forceAt.map { $0 - core.now } ?? run.grace).wholeMilliseconds)
        }
      }
    }
    table.is_expired = { task in
      HostTable.value(orElse: 1) { () throws(CallFailure) in
        try HostTable.run(task, looks: true) { (_, run) throws(CallFailure) in run.report.isExpired ? 1 : 0 }
      }
    }
    table.stop_reason = { task in
      HostTable.value(orElse: taskhost_stop_reason(TASKHOST_STOP_NONE)) { () throws(CallFailure) in
        try HostTable.run(task, looks: true) { (_, run) throws(CallFailure) in run.report.stopReason.code }
      }
    }
    table.expiration_fd = { task in
      HostTable.value(orElse: -1) { () throws(CallFailure) in
        try HostTable.run(task) { (_, run) throws(CallFailure) in try run.expirationDescriptor() }
      }
    }
    table.set_expiration_handler = { task, handler, context in
      HostTable.answer { () throws(CallFailure) in
        try HostTable.run(task, evenIfForced: true) { (core, run) throws(CallFailure) in
          try core.setExpirationHandler(run, handler, context)
        }
      }
    }
  }
}
