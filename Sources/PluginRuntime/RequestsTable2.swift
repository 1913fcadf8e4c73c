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
    fillQuestions(&table)
    fillHistory(&table)
    fillChanges(&table)
    return table
  }

  private static func fillQuestions(_ table: inout taskhost_requests_2) {
    table.list = { task, identifier, visit, context in
      answer { () throws(CallFailure) in
        let visitor = try TextVisitor(visit, context)
        var left = Limits.pendingVisited
        for identifier in try RequestsTable2.identifiers(identifier, task) {
          try visitor.visitAll(task, &left) { (next) throws(CallFailure) in .requests(of: identifier, after: try RequestsTable2.id(next)) }
        }
      }
    }
    table.show = { task, request, visit, context in
      answer { () throws(CallFailure) in
        try TextVisitor(visit, context).visit(task, .request(try HostTable.request(request)))
      }
    }
    table.why = { task, request, visit, context in
      answer { () throws(CallFailure) in
        try TextVisitor(visit, context).visit(task, .explanation(of: try HostTable.request(request)))
      }
    }
    table.conditions = { task, visit, context in
      answer { () throws(CallFailure) in try TextVisitor(visit, context).visit(task, .conditions) }
    }
  }

  private static func fillHistory(_ table: inout taskhost_requests_2) {
    table.runs = { task, identifier, limit, visit, context in
      answer { () throws(CallFailure) in
        let visitor = try TextVisitor(visit, context)
        let identifier = try Borrowed.identifier(identifier)
        guard limit > 0 else { throw CallFailure(.invalid, "limit is 0") }
        var left = min(Int(limit), Limits.pendingVisited)
        try visitor.visitAll(task, &left) { (next) throws(CallFailure) in .runs(of: identifier, after: try RequestsTable2.id(next)) }
      }
    }
    table.last_success = { task, identifier, visit, context in
      answer { () throws(CallFailure) in
        try TextVisitor(visit, context).visit(task, .lastSuccess(of: try Borrowed.identifier(identifier)))
      }
    }
  }

  private static func fillChanges(_ table: inout taskhost_requests_2) {
    table.snooze = { task, request, delay, submission in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        try HostTable.check(submission)
        let id = try HostTable.request(request)
        let delay = Duration.milliseconds(delay)
        do throws(RequestRefusal) { try RequestField.delay.check(delay) } catch { throw CallFailure(error) }
        HostTable.fill(submission, try run.services.snooze(id, for: delay, from: run.context))
      }
    }
    table.update = { task, request, fields, submission in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.forRequests(task)
        try HostTable.check(submission)
        let id = try HostTable.request(request)
        HostTable.fill(submission, try run.services.update(id, with: try TaskRequest(borrowed: fields), from: run.context))
      }
    }
  }

  /// The identifier, or all of the run's plugin.
  private static func identifiers(_ pointer: UnsafePointer<CChar>?, _ task: taskhost_task) throws(CallFailure) -> [TaskIdentifier] {
    if pointer != nil { return [try Borrowed.identifier(pointer)] }
    let run = try RunTable.shared.forRequests(task)
    return run.kinds.keys.sorted()
  }

  static func id<Kind>(_ text: String?) throws(CallFailure) -> RecordID<Kind>? {
    guard let text else { return nil }
    guard let id = RecordID<Kind>(text) else { throw CallFailure(.internal, "the host gave a page that ends with no id") }
    return id
  }
}
