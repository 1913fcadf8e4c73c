import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.trace/1`. It lives as long as the process and is read-only memory.
enum TraceTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_trace>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_trace {
    var table = taskhost_trace()
    table.struct_size = UInt32(MemoryLayout<taskhost_trace>.size)
    table.current = { task, traceparent, link in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        guard let traceparent else { throw CallFailure(.invalid, "traceparent is NULL") }
        guard let trace = run.order.trace else { throw CallFailure(.notFound, "the request was submitted without a traceparent") }
        TraceTable.copy(trace.current.description, to: traceparent)
        if let link { TraceTable.copy(trace.link?.description ?? "", to: link) }
      }
    }
    return table
  }

  /// Copies at most ``TraceParent/textBytes`` and a zero byte.
  private static func copy(_ text: String, to buffer: UnsafeMutablePointer<CChar>) {
    let bytes = text.utf8.prefix(TraceParent.textBytes)
    for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
    buffer[bytes.count] = 0
  }
}
