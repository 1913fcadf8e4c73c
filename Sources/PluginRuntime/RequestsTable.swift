import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.requests/1`. It lives as long as the process and is read-only memory.
enum RequestsTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_requests>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_requests {
    var table = taskhost_requests()
    table.struct_size = UInt32(MemoryLayout<taskhost_requests>.size)
    fillRunPhase(&table)
    fillLaunchPhase(&table)
    return table
  }

  private static func fillRunPhase(_ table: inout taskhost_requests) {
    table.list = { task, visit, context in
      answer { () throws(CallFailure) in
        let visitor = try PendingVisitor(visit, context)
        try visitor.visitAll { (request) throws(CallFailure) in
          // Looked up again for each page, because the run may be over by now.
          let run = try RunTable.shared.forRequests(task)
          return (try run.services.pendingRequests(after: request, for: run.context), run.kinds)
        }
      }
    }
    table.cancel_identifier = { task, identifier, count in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        let cancelled = try run.services.cancelPending(of: try Borrowed.identifier(identifier), for: run.context)
        count?.pointee = UInt64(clamping: cancelled)
      }
    }
    table.cancel_all = { task, count in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        let cancelled = try run.services.cancelPending(of: nil, for: run.context)
        count?.pointee = UInt64(clamping: cancelled)
      }
    }
  }

  private static func fillLaunchPhase(_ table: inout taskhost_requests) {
    table.launch_list = { launch, visit, context in
      answer { () throws(CallFailure) in
        let session = try LaunchTable.find(launch)
        let visitor = try PendingVisitor(visit, context)
        try visitor.visitAll { (request) throws(CallFailure) in try session.pendingRequests(after: request) }
      }
    }
    table.launch_cancel = { launch, identifier in
      answer { () throws(CallFailure) in try LaunchTable.find(launch).cancelPending(of: identifier) }
    }
  }
}
