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
        status: taskhost_status(TASKHOST_EUNSUPPORTED), message: "this host does not know \(TASKHOST_EXTENSION_REQUESTS_2): update taskhost"
      )
    }
    self.table = table
    functions = found
  }

  /// The error for an answer that has nothing in it.
  static let noAnswer = TaskHostError(status: taskhost_status(TASKHOST_EINTERNAL), message: "the host gave no answer")

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

  // MARK: Questions

  /// Gathers the JSON objects that a call visits.
  private func texts(
    _ call: (taskhost_text_visitor, UnsafeMutableRawPointer) -> taskhost_status
  ) throws(TaskHostError) -> [[UInt8]] {
    try Self.texts(table, call)
  }

  /// Gathers the JSON objects that a call of any extension visits.
  static func texts(
    _ table: HostFunctions, _ call: (taskhost_text_visitor, UnsafeMutableRawPointer) -> taskhost_status
  ) throws(TaskHostError) -> [[UInt8]] {
    var texts: [[UInt8]] = []
    let status = withUnsafeMutablePointer(to: &texts) { texts in
      call(
        { text, length, context in
          let bytes = [UInt8](UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : length))
          context?.assumingMemoryBound(to: [[UInt8]].self).pointee.append(bytes)
        }, texts)
    }
    try table.check(status)
    return texts
  }

  func list(_ identifier: String?, _ task: taskhost_task) throws(TaskHostError) -> [[UInt8]] {
    let identifier = try identifier.map { (text) throws(TaskHostError) in try CStrings.checked(text, "the identifier") }
    return try texts { visit, context in CStrings.with(identifier) { functions.pointee.list(task, $0, visit, context) } }
  }

  func show(_ request: String, _ task: taskhost_task) throws(TaskHostError) -> [[UInt8]] {
    let request = try CStrings.checked(request, "the request id")
    return try texts { visit, context in request.withCString { functions.pointee.show(task, $0, visit, context) } }
  }

  func why(_ request: String, _ task: taskhost_task) throws(TaskHostError) -> [[UInt8]] {
    let request = try CStrings.checked(request, "the request id")
    return try texts { visit, context in request.withCString { functions.pointee.why(task, $0, visit, context) } }
  }

  func conditions(_ task: taskhost_task) throws(TaskHostError) -> [[UInt8]] {
    try texts { visit, context in functions.pointee.conditions(task, visit, context) }
  }

  func runs(_ identifier: String, _ limit: Int, _ task: taskhost_task) throws(TaskHostError) -> [[UInt8]] {
    let identifier = try CStrings.checked(identifier, "the identifier")
    return try texts { visit, context in
      identifier.withCString { functions.pointee.runs(task, $0, UInt32(clamping: limit), visit, context) }
    }
  }

  /// - Returns: Nothing if no run has succeeded.
  func lastSuccess(_ identifier: String, _ task: taskhost_task) throws(TaskHostError) -> [[UInt8]] {
    let identifier = try CStrings.checked(identifier, "the identifier")
    do {
      return try texts { visit, context in identifier.withCString { functions.pointee.last_success(task, $0, visit, context) } }
    } catch {
      guard error.code == .notFound else { throw error }
      return []
    }
  }

  // MARK: Changes

  func snooze(_ request: String, for delay: Duration, _ task: taskhost_task) throws(TaskHostError) -> Submission {
    let request = try CStrings.checked(request, "the request id")
    var submission = Submission.emptyCValue
    try table.check(request.withCString { functions.pointee.snooze(task, $0, delay.millisecondsRoundedUp, &submission) })
    return Submission(submission)
  }

  func update(_ request: String, with fields: TaskRequest, _ task: taskhost_task) throws(TaskHostError) -> Submission {
    let request = try CStrings.checked(request, "the request id")
    var submission = Submission.emptyCValue
    try table.check(
      try fields.withCValue { fields in request.withCString { functions.pointee.update(task, $0, fields, &submission) } })
    return Submission(submission)
  }
}
