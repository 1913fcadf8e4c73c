package import CTaskHost

/// The host's functions.
///
/// `@unchecked Sendable`: by contract, the table is read-only and lives as long as the process.
package struct HostFunctions: @unchecked Sendable {
  package let api: UnsafePointer<taskhost_api>
  /// `nil` if the host keeps no counts.
  let records: RecordsTable?

  /// Checks that this SDK can use the table.
  ///
  /// - Throws: `TASKHOST_EINVAL` for NULL or a table with a NULL function, `TASKHOST_EUNSUPPORTED` for a host older than this SDK.
  package init(_ api: UnsafePointer<taskhost_api>?) throws(TaskHostError) {
    guard let api else {
      throw TaskHostError(status: taskhost_status(TASKHOST_EINVAL), message: "the host passed no table of functions")
    }
    guard api.pointee.abi_version >= Self.abiVersion, api.pointee.struct_size >= Self.size else {
      throw TaskHostError(
        status: taskhost_status(TASKHOST_EUNSUPPORTED),
        message: "the host speaks ABI \(api.pointee.abi_version) with a table of \(api.pointee.struct_size) bytes; "
          + "this plugin needs ABI \(Self.abiVersion) with \(Self.size): update taskhost")
    }
    let functions = UnsafeRawBufferPointer(start: api, count: Self.size).dropFirst(Self.offsetOfFunctions)
    for offset in stride(from: functions.startIndex, to: functions.endIndex, by: MemoryLayout<UInt>.size)
    where UnsafeRawPointer(api).load(fromByteOffset: offset, as: UInt.self) == 0 {
      throw TaskHostError(status: taskhost_status(TASKHOST_EINVAL), message: "the host's table has no function at offset \(offset)")
    }
    self.api = api
    records = RecordsTable(api)
  }

  /// Turns a status into an error with the host's sentence. Call it on the thread of the host call, before its next one.
  package func check(_ status: taskhost_status) throws(TaskHostError) {
    guard status != taskhost_status(TASKHOST_OK) else { return }
    throw error(status)
  }

  /// The error for a status that is not OK, under the conditions of ``check(_:)``.
  func error(_ status: taskhost_status) -> TaskHostError {
    TaskHostError(status: status, message: api.pointee.last_error().map { String(cString: $0) } ?? "")
  }

  /// Registers a handler that `entry` serves, which must live as long as the process.
  ///
  /// - Parameter identifier: Without a NUL byte.
  package func register(
    _ identifier: String, _ kind: TaskKind, _ entry: PluginEntry, maxConcurrentRuns: UInt32, displayName: String? = nil,
    version: String? = nil, budget: Duration? = nil, in launch: taskhost_launch
  ) -> taskhost_status {
    identifier.withCString { cIdentifier in
      CStrings.with(displayName.map(CStrings.printable)) { cDisplayName in
        CStrings.with(version.map(CStrings.printable)) { cVersion in
          var registration = taskhost_registration()
          registration.struct_size = UInt32(MemoryLayout<taskhost_registration>.size)
          registration.kind = kind.cValue
          registration.identifier = cIdentifier
          registration.handler = PluginEntry.handler
          registration.context = Unmanaged.passUnretained(entry).toOpaque()
          registration.display_name = cDisplayName
          registration.version = cVersion
          registration.budget_ms = budget?.millisecondsRoundedUp ?? 0
          registration.max_concurrent_runs = maxConcurrentRuns
          return api.pointee.register_handler(launch, &registration)
        }
      }
    }
  }

  private static let abiVersion: UInt32 = 1
  /// Version 1's size. Functions that a later header adds are reached through `extension`.
  private static let size = 248
  private static let offsetOfFunctions = 8
}
