import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.fleet/1`. It lives as long as the process and is read-only memory.
enum FleetTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_fleet>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_fleet {
    var table = taskhost_fleet()
    table.struct_size = UInt32(MemoryLayout<taskhost_fleet>.size)
    table.fencing_token = { task, token in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        guard let token else { throw CallFailure(.invalid, "token is NULL") }
        guard let known = run.order.fencingToken else { throw CallFailure(.notFound, "the request is not one of a fleet") }
        token.pointee = UInt64(max(0, known))
      }
    }
    return table
  }
}
