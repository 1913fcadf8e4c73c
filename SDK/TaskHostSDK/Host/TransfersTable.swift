import CTaskHost

/// The host's extension `org.taskhost.transfers/1`.
///
/// `@unchecked Sendable`: by contract, an extension's table is read-only and lives as long as the process.
package struct TransfersTable: @unchecked Sendable {
  private let run: RunHandle
  private let functions: UnsafePointer<taskhost_transfers>

  /// - Throws: `unsupported` if the host does not offer it.
  package init(_ run: RunHandle) throws(TaskHostError) {
    guard let found = run.table.api.pointee.extension(TASKHOST_EXTENSION_TRANSFERS)?.assumingMemoryBound(to: taskhost_transfers.self),
      found.pointee.struct_size >= UInt32(MemoryLayout<taskhost_transfers>.size)
    else {
      throw TaskHostError(status: taskhost_status(TASKHOST_EUNSUPPORTED), message: "this host has no transfers: update taskhost")
    }
    self.run = run
    functions = found
  }

  /// The plugin's folder for transfers, an absolute path.
  package func folder() throws(TaskHostError) -> String {
    let bytes = try run.read { buffer, capacity, length in
      functions.pointee.folder(run.task, buffer?.assumingMemoryBound(to: CChar.self), capacity, length)
    }
    guard let bytes, !bytes.isEmpty else { throw RequestsTable.noAnswer }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
  }

  package func submit(_ request: TaskRequest) throws(TaskHostError) -> Submission {
    var submission = Submission.emptyCValue
    try run.check(try request.withCValue { functions.pointee.submit(run.task, $0, &submission) })
    return Submission(submission)
  }

  package func cancel(_ id: String) throws(TaskHostError) {
    let id = try CStrings.checked(id, "the transfer's id")
    try run.check(id.withCString { functions.pointee.cancel(run.task, $0) })
  }

  package func pause(_ id: String) throws(TaskHostError) {
    let id = try CStrings.checked(id, "the transfer's id")
    try run.check(id.withCString { functions.pointee.pause(run.task, $0) })
  }

  package func resume(_ id: String) throws(TaskHostError) {
    let id = try CStrings.checked(id, "the transfer's id")
    try run.check(id.withCString { functions.pointee.resume(run.task, $0) })
  }

  package func list() throws(TaskHostError) -> [[UInt8]] {
    try RequestsTable.texts(run.table) { functions.pointee.list(run.task, $0, $1) }
  }

  package func show(_ id: String) throws(TaskHostError) -> [UInt8] {
    let id = try CStrings.checked(id, "the transfer's id")
    return try RequestsTable.one(
      RequestsTable.texts(run.table) { visit, context in id.withCString { functions.pointee.show(run.task, $0, visit, context) } })
  }
}
