import CTaskHost

/// The trace that a run belongs to, by W3C Trace Context.
public struct TraceContext: Sendable, Equatable {
  /// The run's own `traceparent`: pass it on to what the run calls.
  public let traceparent: String
  /// The `traceparent` of the submission, if the run is the root of a new trace that is linked to it; `nil` if the run is its child.
  public let link: String?
}

extension TaskContext {
  /// The trace that the run belongs to; `nil` if its request was submitted without one and the host sends no traces, and once the run is over.
  ///
  /// The first attempt of a request that does not repeat is a child of the submission. A retry, and each run of a request that repeats, is
  /// the root of a new trace, with a link to the submission's.
  public var trace: TraceContext? { run.trace }
}

extension RunHandle {
  var traceTable: UnsafePointer<taskhost_trace>? {
    functions.pointee.extension(TASKHOST_EXTENSION_TRACE)?.assumingMemoryBound(to: taskhost_trace.self)
  }

  /// See ``TaskContext/trace``.
  package var trace: TraceContext? {
    // An older host's table ends with this function.
    guard let table = traceTable, let end = MemoryLayout<taskhost_trace>.offset(of: \.span), table.pointee.struct_size >= UInt32(end) else {
      return nil
    }
    var status = taskhost_status(TASKHOST_OK)
    let size = Int(TASKHOST_TRACEPARENT_SIZE)
    let texts = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2 * size) { buffer -> (String, String) in
      buffer.initialize(repeating: 0)
      guard let start = buffer.baseAddress else { return ("", "") }
      status = table.pointee.current(task, start, start + size)
      return (String(cString: start), String(cString: start + size))
    }
    guard status == taskhost_status(TASKHOST_OK) else { return nil }
    return TraceContext(traceparent: texts.0, link: texts.1.isEmpty ? nil : texts.1)
  }
}
