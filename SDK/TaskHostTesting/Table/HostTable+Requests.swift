import CTaskHost
import TaskHostSDK

extension HostTable {
  /// The table of the extension `org.taskhost.requests/1`.
  static func requestsTable() -> taskhost_requests {
    var table = taskhost_requests()
    table.struct_size = UInt32(MemoryLayout<taskhost_requests>.size)
    table.list = { task, visit, context in
      HostTable.answer { () throws(CallFailure) in
        guard let visit else {
          _ = try HostTable.run(task) { (_, _) throws(CallFailure) in }
          throw CallFailure(TASKHOST_EINVAL, "visit is NULL")
        }
        let pending = try HostTable.run(task) { (core, run) throws(CallFailure) in
          try core.reachStore(.list, run)
          return core.pending(of: run.plugin.handlers)
        }
        HostTable.visit(pending, visit, context)
      }
    }
    table.cancel_identifier = { task, identifier, count in
      HostTable.answer { () throws(CallFailure) in
        let cancelled = try HostTable.run(task) { (core, run) throws(CallFailure) in
          let identifier = try Borrowed.identifier(identifier)
          guard run.plugin.registers(identifier) else { throw HostTable.notRegistered(identifier) }
          return try core.cancelPending(run, of: [identifier])
        }
        count?.pointee = UInt64(cancelled)
      }
    }
    table.cancel_all = { task, count in
      HostTable.answer { () throws(CallFailure) in
        let cancelled = try HostTable.run(task) { (core, run) throws(CallFailure) in
          try core.cancelPending(run, of: run.plugin.handlers.map(\.identifier))
        }
        count?.pointee = UInt64(cancelled)
      }
    }
    table.launch_list = { launch, visit, context in
      HostTable.answer { () throws(CallFailure) in
        let session = try Registry.launch(launch)
        guard let visit else { throw CallFailure(TASKHOST_EINVAL, "visit is NULL") }
        HostTable.visit(try session.pending(), visit, context)
      }
    }
    table.launch_cancel = { launch, identifier in
      HostTable.answer { () throws(CallFailure) in try Registry.launch(launch).cancelPending(of: identifier) }
    }
    return table
  }

  static func notRegistered(_ identifier: String) -> CallFailure {
    CallFailure(TASKHOST_ENOTPERMITTED, "\(identifier) is not an identifier that this plugin has registered")
  }

  /// Shows the requests to the plugin, on its thread, with no lock held.
  private static func visit(_ pending: [PendingRequest], _ visit: taskhost_request_visitor, _ context: UnsafeMutableRawPointer?) {
    for request in pending.prefix(1000) {
      request.identifier.withCString { identifier in
        request.id.withCString { id in
          // One byte more, so that there is an address for a payload of none.
          (request.payload + [0]).withUnsafeBytes { payload in
            var shown = taskhost_pending_request()
            shown.struct_size = UInt32(MemoryLayout<taskhost_pending_request>.size)
            shown.conditions = request.conditions
            shown.earliest_begin_unix_ms = request.earliestBeginUnixMilliseconds
            shown.next_start_unix_ms = request.nextStartUnixMilliseconds
            shown.attempt = request.attempt
            shown.kind = request.kind
            shown.identifier = identifier
            shown.request_id = id
            shown.payload = payload.baseAddress
            shown.payload_length = UInt64(request.payload.count)
            visit(&shown, context)
          }
        }
      }
    }
  }
}
