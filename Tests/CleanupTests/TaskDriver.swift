import TestSupport
import CTaskHost
import Glibc
import Synchronization
import TaskHostSDK

@testable import Cleanup

/// A host of just enough functions to launch the plugin and run it, through the real C table and the SDK.
///
/// The functions of the table have no context, so the driver whose turn it is stands in ``current``, one at a time.
final class TaskDriver {
  /// What a run gave.
  struct Run {
    var result: taskhost_result = -1
    var output = ""
    var message = ""
  }

  private struct State {
    var settings: UnsafeMutablePointer<CChar>?
    var handler: taskhost_handler?
    var context: UnsafeMutableRawPointer?
    var payload: [UInt8] = []
    var isExpired = false
    var checkpoint: [UInt8]?
    var run = Run()
    var launchLog = ""
  }

  private static let current = Mutex(UncheckedBox(State()))

  /// `@unchecked Sendable`: only ever touched inside the mutex above.
  private struct UncheckedBox: @unchecked Sendable {
    var state: State
    init(_ state: State) { self.state = state }
  }

  private static func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    current.withLock { box in body(&box.state) }
  }

  private let api: UnsafeMutablePointer<taskhost_api>

  /// Launches the plugin with `settings`, as JSON. One driver at a time.
  init(settings: String) {
    api = .allocate(capacity: 1)
    api.initialize(to: Self.table())
    Self.with { $0 = State() }
    Self.with { $0.settings = strdup(settings) }
    status = TaskHostPlugin.launch(CleanupTask.self, api, 7)
    launchLog = Self.with { $0.launchLog }
  }

  /// What the launch answered, and logged.
  let status: taskhost_status
  let launchLog: String

  /// Runs a request to its end on a thread of its own, going on from the checkpoint of the run before.
  ///
  /// - Parameter expired: Whether the run has expired before it begins.
  func run(_ payload: String = "", expired: Bool = false) throws -> Run {
    Self.with {
      $0.isExpired = expired
      $0.payload = Array(payload.utf8)
      $0.run = Run()
    }
    var thread = pthread_t()
    let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
      let (handler, context) = TaskDriver.with { UncheckedPair(handler: $0.handler, context: $0.context) }.values
      let result = handler?(1, context) ?? -1
      TaskDriver.with { $0.run.result = result }
      return nil
    }
    guard pthread_create(&thread, nil, body, nil) == 0 else { throw TestFailure("no thread") }
    pthread_join(thread, nil)
    return Self.with { $0.run }
  }

  /// `@unchecked Sendable`: a function and the pointer it is given, both good on any thread.
  private struct UncheckedPair: @unchecked Sendable {
    let handler: taskhost_handler?
    let context: UnsafeMutableRawPointer?
    var values: (taskhost_handler?, UnsafeMutableRawPointer?) { (handler, context) }
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

  // reason: written once, before it is handed out
  private nonisolated(unsafe) static let openFiles: UnsafePointer<taskhost_open_files> = {
    let table = UnsafeMutablePointer<taskhost_open_files>.allocate(capacity: 1)
    table.initialize(to: taskhost_open_files())
    table.pointee.struct_size = UInt32(MemoryLayout<taskhost_open_files>.size)
    table.pointee.query = { _, directory, files, count, uses in
      let questions = UnsafeBufferPointer(start: files, count: count).map { file in
        (device: file.device, inode: file.inode, path: Array(TaskDriver.text(file.path).utf8))
      }
      for (index, use) in HostAnswers.uses(questions, in: TaskDriver.text(directory)).enumerated() {
        uses?[index] = UInt8(use == .open ? TASKHOST_USE_OPEN : use == .notOpen ? TASKHOST_USE_NOT_OPEN : TASKHOST_USE_UNKNOWN)
      }
      return 0
    }
    table.pointee.launch_entitlement = { _, _, entitled in
      entitled?.pointee = UInt32(TASKHOST_ENTITLED_READ | TASKHOST_ENTITLED_WRITE)
      return 0
    }
    return UnsafePointer(table)
  }()

  /// What the table hands out by pointer (settings, payloads) is never freed: the plugin may look at it until the process ends.
  private static func table() -> taskhost_api {
    var api = taskhost_api()
    api.struct_size = UInt32(MemoryLayout<taskhost_api>.size)
    api.abi_version = TASKHOST_ABI_VERSION
    api.register_handler = { _, registration in
      let box = registration.map { UncheckedPair(handler: $0.pointee.handler, context: $0.pointee.context) }
      TaskDriver.with {
        $0.handler = box?.handler
        $0.context = box?.context
      }
      return 0
    }
    api.configuration = { _ in UnsafePointer(TaskDriver.current.withLock { UInt(bitPattern: $0.state.settings) }.pointer) }
    api.data_directory = { _ in UnsafePointer(TaskDriver.current.withLock { UInt(bitPattern: $0.state.settings) }.pointer) }
    api.launch_log = { _, _, message in
      let line = TaskDriver.text(message)
      TaskDriver.with { $0.launchLog += line }
      return 0
    }
    api.payload = { _, bytes, length in
      let payload = TaskDriver.with { $0.payload }
      let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, payload.count), alignment: 1)
      copy.copyMemory(from: payload, byteCount: payload.count)
      bytes?.pointee = UnsafeRawPointer(copy)
      length?.pointee = payload.count
      return 0
    }
    api.identifier = { _ in UnsafePointer(TaskDriver.current.withLock { UInt(bitPattern: $0.state.settings) }.pointer) }
    api.request_id = api.identifier
    api.attempt = { _ in 1 }
    api.remaining_ms = { _ in 60_000 }
    api.grace_ms = { _ in 1_000 }
    api.is_expired = { _ in TaskDriver.with { $0.isExpired ? 1 : 0 } }
    api.stop_reason = { _ in taskhost_stop_reason(TaskDriver.with { $0.isExpired ? TASKHOST_STOP_BUDGET : TASKHOST_STOP_NONE }) }
    api.expiration_fd = { _ in -1 }
    api.set_expiration_handler = { _, _, _ in TaskDriver.with { $0.isExpired ? taskhost_status(TASKHOST_EEXPIRED) : 0 } }
    api.progress = { _, _, _ in 0 }
    api.log = { _, _, _ in 0 }
    api.set_output = { _, bytes, length in
      let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
      TaskDriver.with { $0.run.output = text }
      return 0
    }
    api.set_message = { _, message in
      let text = TaskDriver.text(message)
      TaskDriver.with { $0.run.message = text }
      return 0
    }
    api.retry_after = { _, _ in 0 }
    api.now_unix_ms = { _ in TestTree.now * 1_000 }
    api.checkpoint_get = { _, buffer, capacity, length in
      guard let bytes = TaskDriver.with({ $0.checkpoint }) else { return taskhost_status(TASKHOST_ENOTFOUND) }
      length?.pointee = bytes.count
      guard bytes.count <= capacity else { return taskhost_status(TASKHOST_ETOOBIG) }
      buffer?.copyMemory(from: bytes, byteCount: bytes.count)
      return 0
    }
    api.checkpoint_set = { _, bytes, length in
      let copy = Array(UnsafeRawBufferPointer(start: bytes, count: length))
      TaskDriver.with { $0.checkpoint = copy }
      return 0
    }
    // What the plugin has no use for.
    api.launch_submit = { _, _ in taskhost_status(TASKHOST_EUNSUPPORTED) }
    api.sleep = { _, _ in taskhost_status(TASKHOST_EUNSUPPORTED) }
    api.state_get = { _, _, _, _, _ in taskhost_status(TASKHOST_ENOTFOUND) }
    api.state_set = { _, _, _, _ in taskhost_status(TASKHOST_EUNSUPPORTED) }
    api.submit = { _, _, _ in taskhost_status(TASKHOST_EUNSUPPORTED) }
    api.cancel = { _, _ in taskhost_status(TASKHOST_ENOTFOUND) }
    api.extension = { id in
      guard let id, strcmp(id, TASKHOST_EXTENSION_OPEN_FILES) == 0 else { return nil }
      return UnsafeRawPointer(TaskDriver.openFiles)
    }
    api.last_error = { UnsafePointer(TaskDriver.current.withLock { UInt(bitPattern: $0.state.settings) }.pointer) }
    return api
  }
}

extension UInt {
  /// An address that crossed the mutex as a number.
  fileprivate var pointer: UnsafeMutablePointer<CChar>? { UnsafeMutablePointer(bitPattern: self) }
}
