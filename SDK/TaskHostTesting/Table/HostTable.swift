import CTaskHost
import TaskHostSDK

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The table of functions that plugins reach a test host through, and the tables of its extensions: read-only memory that lives as long as
/// the process.
enum HostTable {
  /// A table for one test host. All are alike, but the SDK tells the instances of a plugin apart by the table they were launched with. The
  /// contract says that a table is never freed, so a test host costs the process a page.
  static func make() throws(TestHostError) -> UnsafePointer<taskhost_api> {
    var table = taskhost_api()
    table.struct_size = UInt32(MemoryLayout<taskhost_api>.size)
    table.abi_version = TASKHOST_ABI_VERSION
    fillLaunchPhase(&table)
    fillRunPhase(&table)
    fillStopping(&table)
    fillDurable(&table)
    table.last_error = { LastError.get() }
    table.extension = { HostTable.extension($0) }
    guard let page = readOnly(table) else { throw TestHostError.system("no memory is left for the host's table") }
    return page
  }

  private static func `extension`(_ name: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    guard let name else { return nil }
    if strcmp(name, TASKHOST_EXTENSION_REQUESTS) == 0 { return UnsafeRawPointer(requests) }
    if strcmp(name, VirtualTimeFunctions.identifier) == 0 { return UnsafeRawPointer(virtualTime) }
    return nil
  }

  // reason: written once before anybody can see them, then made read-only by the kernel
  nonisolated(unsafe) private static let requests = readOnly(requestsTable())
  nonisolated(unsafe) private static let virtualTime = readOnly(virtualTimeTable())

  /// "", for the functions that answer a text for a stale handle.
  // reason: never written
  nonisolated(unsafe) static let emptyText: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    return UnsafePointer(text)
  }()

  private static func readOnly<Table: BitwiseCopyable>(_ contents: Table) -> UnsafePointer<Table>? {
    let length = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard let page = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page != MAP_FAILED else { return nil }
    let table = page.bindMemory(to: Table.self, capacity: 1)
    table.initialize(to: contents)
    mprotect(page, length, PROT_READ)
    return UnsafePointer(table)
  }

  /// Serves a call that answers a status.
  static func answer(_ body: () throws(CallFailure) -> Void) -> taskhost_status {
    do {
      try body()
      return taskhost_status(TASKHOST_OK)
    } catch {
      LastError.set(error.message)
      return error.status
    }
  }

  /// Serves a call that answers a value: it, or `fallback` with the sentence kept for `last_error`.
  static func value<Value>(orElse fallback: Value, _ body: () throws(CallFailure) -> Value) -> Value {
    do { return try body() } catch {
      LastError.set(error.message)
      return fallback
    }
  }

  /// Calls `body` for the live run that a handle names, with its test host's lock held. What is left of a killed run never returns.
  static func run<Value>(
    _ task: taskhost_task, looks: Bool = false, evenIfForced: Bool = false,
    _ body: (HostCore, RunState) throws(CallFailure) -> Value
  ) throws(CallFailure) -> Value {
    let run = try Registry.run(task)
    let core = run.core
    core.monitor.lock()
    let result = Result { () throws(CallFailure) -> Value in
      guard run.phase == .live || (evenIfForced && run.phase == .forced) else { throw .stale }
      run.note(look: looks)
      return try body(core, run)
    }
    let isKilled = run.phase == .killed
    if !isKilled { core.changed(run) }
    core.monitor.unlock()
    if isKilled { Frozen.forever() }
    return try result.get()
  }
}
