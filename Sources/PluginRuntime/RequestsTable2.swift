import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.requests/2`. It lives as long as the process and is read-only memory.
enum RequestsTable2 {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_requests_2>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_requests_2 {
    var table = taskhost_requests_2()
    table.struct_size = UInt32(MemoryLayout<taskhost_requests_2>.size)
    table.notify_event = { task, event, payload, length, waiting in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        let event = try Borrowed.text(event, named: "event", limit: Limits.keyBytes)
        if let flaw = EventTrigger.flaw(of: event) { throw CallFailure(.invalid, flaw) }
        let bytes = try Borrowed.bytes(payload, length, named: "payload", limit: Limits.payloadBytes)
        let count = try run.services.notify(event, payload: payload == nil ? nil : bytes, for: run.context)
        waiting?.pointee = UInt64(clamping: count)
      }
    }
    return table
  }
}
