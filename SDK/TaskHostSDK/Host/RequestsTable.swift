import CTaskHost

/// The host's extension `org.taskhost.requests/2`.
///
/// `@unchecked Sendable`: by contract, an extension's table is read-only and lives as long as the process.
struct RequestsTable: @unchecked Sendable {
  private let table: HostFunctions
  private let functions: UnsafePointer<taskhost_requests_2>

  /// - Throws: `unsupported` if the host does not offer it.
  init(_ table: HostFunctions) throws(TaskHostError) {
    guard let found = table.api.pointee.extension(TASKHOST_EXTENSION_REQUESTS_2)?.assumingMemoryBound(to: taskhost_requests_2.self),
      found.pointee.struct_size >= UInt32(MemoryLayout<taskhost_requests_2>.size)
    else {
      throw TaskHostError(
        status: taskhost_status(TASKHOST_EUNSUPPORTED), message: "this host does not know \(TASKHOST_EXTENSION_REQUESTS_2): update taskhost")
    }
    self.table = table
    functions = found
  }

  /// Raises an event.
  ///
  /// - Parameter payload: `nil` keeps the payload of each request.
  /// - Returns: The number of requests that wait for it.
  func notify(_ event: String, payload: [UInt8]?, _ run: RunHandle) throws(TaskHostError) -> Int {
    let event = try CStrings.checked(event, "the event's name")
    var waiting: UInt64 = 0
    if let payload {
      try run.write(payload) { bytes, length in
        event.withCString { functions.pointee.notify_event(run.task, $0, bytes, length, &waiting) }
      }
    } else {
      try table.check(event.withCString { functions.pointee.notify_event(run.task, $0, nil, 0, &waiting) })
    }
    return Int(clamping: waiting)
  }
}
