import CTaskHost

/// The host's extension `org.taskhost.assertions/1`.
///
/// `@unchecked Sendable`: by contract, an extension's table is read-only and lives as long as the process.
struct AssertionsTable: @unchecked Sendable {
  private let table: HostFunctions
  private let functions: UnsafePointer<taskhost_assertions>

  /// - Throws: `unsupported` if the host does not offer it.
  init(_ table: HostFunctions) throws(TaskHostError) {
    guard let found = table.api.pointee.extension(TASKHOST_EXTENSION_ASSERTIONS)?.assumingMemoryBound(to: taskhost_assertions.self),
      found.pointee.struct_size >= UInt32(MemoryLayout<taskhost_assertions>.size)
    else {
      throw TaskHostError(status: taskhost_status(TASKHOST_EUNSUPPORTED), message: "this host has no assertions: update taskhost")
    }
    self.table = table
    functions = found
  }

  /// - Parameter context: Given to `expired`; borrowed until ``end(_:_:)`` has returned.
  func begin(
    _ name: String, reason: String?, for length: Duration, expired: taskhost_assertion_handler?, context: UnsafeMutableRawPointer?,
    _ task: taskhost_task
  ) throws(TaskHostError) -> taskhost_assertion {
    // In C, 0 stands for the preset.
    guard length > .zero else { throw TaskHostError(status: taskhost_status(TASKHOST_EINVAL), message: "an assertion lasts for \(length)") }
    let name = try CStrings.checked(name, "the assertion's name")
    let reason = try reason.map { reason throws(TaskHostError) in try CStrings.checked(reason, "the assertion's reason") }
    var assertion: taskhost_assertion = 0
    let status = name.withCString { name in
      CStrings.with(reason) { reason in
        var request = taskhost_assertion_request()
        request.struct_size = UInt32(MemoryLayout<taskhost_assertion_request>.size)
        request.name = name
        request.reason = reason
        request.for_ms = length.millisecondsRoundedUp
        request.expired = expired
        request.context = context
        return functions.pointee.begin(task, &request, &assertion)
      }
    }
    try table.check(status)
    return assertion
  }

  func remaining(_ assertion: taskhost_assertion, _ task: taskhost_task) -> Duration {
    .milliseconds(max(0, functions.pointee.remaining_ms(task, assertion)))
  }

  func end(_ assertion: taskhost_assertion, _ task: taskhost_task) -> taskhost_status { functions.pointee.end(task, assertion) }
}
