import CTaskHost
import Glibc
import TaskModel

/// The table of functions through which plugins call the host. It is read-only memory and lives as long as the process.
enum HostTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_api>? = make()

  private static func make() -> UnsafePointer<taskhost_api>? { readOnly(contents()) }

  /// Copies a table, which is far smaller than a page, into read-only memory that lives as long as the process. Nil if no memory is left.
  static func readOnly<Table: BitwiseCopyable>(_ contents: Table) -> UnsafePointer<Table>? {
    let length = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard let page = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page != MAP_FAILED else { return nil }
    let table = page.bindMemory(to: Table.self, capacity: 1)
    table.initialize(to: contents)
    mprotect(page, length, PROT_READ)
    return UnsafePointer(table)
  }

  private static func contents() -> taskhost_api {
    var table = taskhost_api()
    table.struct_size = UInt32(MemoryLayout<taskhost_api>.size)
    table.abi_version = TASKHOST_ABI_VERSION
    fillLaunchPhase(&table)
    fillRunPhase(&table)
    fillDurable(&table)
    table.last_error = { LastError.get() }
    table.extension = { id in
      guard let id else { return nil }
      if strcmp(id, TASKHOST_EXTENSION_REQUESTS) == 0 { return UnsafeRawPointer(RequestsTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_REQUESTS_2) == 0 { return UnsafeRawPointer(RequestsTable2.shared) }
      if strcmp(id, TASKHOST_EXTENSION_OPEN_FILES) == 0 { return UnsafeRawPointer(OpenFilesTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_RECORDS) == 0 { return UnsafeRawPointer(RecordsTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_TRACE) == 0 { return UnsafeRawPointer(TraceTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_ASSERTIONS) == 0 { return UnsafeRawPointer(AssertionsTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_TRANSFERS) == 0 { return UnsafeRawPointer(TransfersTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_FLEET) == 0 { return UnsafeRawPointer(FleetTable.shared) }
      if strcmp(id, TASKHOST_EXTENSION_RESOURCES) == 0 { return UnsafeRawPointer(ResourcesTable.shared) }
      return nil
    }
    return table
  }

  private static func fillLaunchPhase(_ table: inout taskhost_api) {
    table.register_handler = { launch, registration in
      answer { () throws(CallFailure) in try LaunchTable.find(launch).register(registration) }
    }
    table.configuration = { launch in
      HostTable.pointer(orElse: nil) { () throws(CallFailure) in try LaunchTable.find(launch).configuration() }
    }
    table.data_directory = { launch in
      HostTable.pointer(orElse: nil) { () throws(CallFailure) in try LaunchTable.find(launch).dataDirectory() }
    }
    table.launch_submit = { launch, request in
      answer { () throws(CallFailure) in try LaunchTable.find(launch).submit(request) }
    }
    table.launch_log = { launch, level, message in
      answer { () throws(CallFailure) in try LaunchTable.find(launch).log(level, message) }
    }
  }

  /// Serves a call that returns a text: its address, or `fallback` with a sentence for `last_error`.
  static func pointer(
    orElse fallback: UnsafePointer<CChar>?, _ body: () throws(CallFailure) -> UnsafePointer<CChar>
  ) -> UnsafePointer<CChar>? {
    do { return try body() } catch {
      LastError.set(error.message)
      return fallback
    }
  }

  /// Serves a call that returns a number: the number, or `fallback` with a sentence for `last_error`.
  static func value<Value>(orElse fallback: Value, _ body: () throws(CallFailure) -> Value) -> Value {
    do { return try body() } catch {
      LastError.set(error.message)
      return fallback
    }
  }
}

/// Serves one call from a plugin: OK, or the failure's status with a sentence for `last_error`.
func answer(_ body: () throws(CallFailure) -> Void) -> taskhost_status {
  do {
    try body()
    return taskhost_status(TASKHOST_OK)
  } catch {
    LastError.set(error.message)
    return error.status.rawValue
  }
}
