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
    table.span = { task, name, start, end, attributes, failed in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let text = try Borrowed.text(name, named: "name", limit: Limits.spanNameBytes)
        guard !text.isEmpty else { throw CallFailure(.invalid, "name is empty") }
        guard start <= end else { throw CallFailure(.invalid, "end_unix_ns is before start_unix_ns") }
        guard failed <= 1 else { throw CallFailure(.invalid, "failed is \(failed); it must be 0 or 1") }
        let object = try Borrowed.optionalText(attributes, named: "attributes", limit: Limits.spanAttributeBytes) ?? ""
        guard object.isEmpty || object.first == "{" && object.last == "}" else {
          throw CallFailure(.invalid, "attributes is no JSON object")
        }
        let line = PluginText.line(text, limit: Limits.spanNameBytes)
        try run.add(RunSpan(name: line, start: start, end: end, attributes: Array(object.utf8), hasFailed: failed == 1))
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
