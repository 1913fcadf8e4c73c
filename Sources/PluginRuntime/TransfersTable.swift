import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.transfers/1`. It lives as long as the process and is read-only memory.
enum TransfersTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_transfers>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_transfers {
    var table = taskhost_transfers()
    table.struct_size = UInt32(MemoryLayout<taskhost_transfers>.size)
    table.folder = { task, buffer, capacity, length in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        try HostTable.check(buffer, capacity: capacity, length: length)
        let path = Array(try run.services.transferFolder(for: run.context).utf8) + [0]
        try HostTable.copy(path, named: "the folder, with its end,", to: buffer, capacity: capacity, length: length)
      }
    }
    table.submit = { task, request, submission in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        try HostTable.check(submission)
        HostTable.fill(submission, try run.services.submitTransfer(try TaskRequest(borrowed: request), for: run.context))
      }
    }
    table.cancel = { task, transfer in TransfersTable.change(task, transfer, .cancel) }
    table.pause = { task, transfer in TransfersTable.change(task, transfer, .pause) }
    table.resume = { task, transfer in TransfersTable.change(task, transfer, .resume) }
    table.list = { task, visit, context in
      answer { () throws(CallFailure) in
        let visitor = try TextVisitor(visit, context)
        var left = Limits.pendingVisited
        try visitor.visitAll(task, &left) { (next) throws(CallFailure) in .transfers(after: try RequestsTable2.id(next)) }
      }
    }
    table.show = { task, transfer, visit, context in
      answer { () throws(CallFailure) in
        try TextVisitor(visit, context).visit(task, .transfer(try HostTable.request(transfer)))
      }
    }
    return table
  }

  private static func change(_ task: taskhost_task, _ transfer: UnsafePointer<CChar>?, _ change: TransferChange) -> taskhost_status {
    answer { () throws(CallFailure) in
      let run = try RunTable.shared.forRequests(task)
      try run.services.change(transfer: try HostTable.request(transfer), change, for: run.context)
    }
  }
}
