import CTaskHost

/// A live run: what is asked of it is durable when the call returns.
struct RunChannel: RequestChannel, Sendable {
  let host: HostTable
  let task: taskhost_task

  func pending() throws -> [PendingRequest] {
    let table = try host.extensionTable()
    return try PendingRequest.Collector.collect { visit, context in
      try host.check(table.pointee.list(task, visit, context))
    }
  }

  func cancel(hostIdentifier: String, identifier: String) throws {
    guard hostIdentifier != identifier else {
      let table = try host.extensionTable()
      return try host.check(hostIdentifier.withCString { table.pointee.cancel_identifier(task, $0, nil) })
    }
    for request in try pending() where request.identifier == identifier {
      let status = request.requestID.withCString { host.api.pointee.cancel(task, $0) }
      if status != taskhost_status(TASKHOST_ENOTFOUND) { try host.check(status) }
    }
  }

  func cancelAll() throws {
    let table = try host.extensionTable()
    try host.check(table.pointee.cancel_all(task, nil))
  }

  func submit(_ order: Order, atOnce: Bool) throws {
    var submission = taskhost_submission()
    submission.struct_size = UInt32(MemoryLayout<taskhost_submission>.size)
    try host.check(try order.withCValue { host.api.pointee.submit(task, $0, &submission) })
    guard atOnce, submission.next_start_unix_ms > host.api.pointee.now_unix_ms(task) else { return }
    withUnsafeBytes(of: submission.request_id) { bytes in
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
      _ = host.api.pointee.cancel(task, start)
    }
    throw BGTaskScheduler.Error(.immediateRunIneligible, "\(order.identifier) would have to wait before it could begin")
  }

  /// A line in the run's log.
  func log(_ level: LogLevel, _ text: String) -> Bool {
    CText.printable(text).withCString { host.api.pointee.log(task, level.cValue, $0) } == taskhost_status(TASKHOST_OK)
  }
}
