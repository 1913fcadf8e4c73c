import CTaskHost
import Foundation
import Synchronization

/// The C functions of ``FakeHost``: they find the launch or run by its handle, as the real host does.
enum FakeTable {
  static let launches = Mutex<[taskhost_launch: FakeHost]>([:])
  static let runs = Mutex<[taskhost_task: FakeRun]>([:])
  /// Runs that expired and have ended, and whose grace is not over: the host takes submissions of them.
  static let graced = Mutex<[taskhost_task: FakeRun]>([:])
  /// The hosts of the launches and runs that are over, by handle.
  static let ended = Mutex<[UInt64: FakeHost]>([:])
  private static let lastHandle = Atomic<UInt64>(0)
  /// What the fake host's clock shows.
  static let now: Int64 = 1_700_000_000_000

  static func newHandle() -> UInt64 { lastHandle.add(1, ordering: .relaxed).newValue }

  static func make() -> taskhost_api {
    var api = taskhost_api()
    api.struct_size = UInt32(MemoryLayout<taskhost_api>.size)
    api.abi_version = 1
    fillLaunchPhase(&api)
    fillRunPhase(&api)
    api.last_error = { UnsafePointer(FakeTable.sentence) }
    api.extension = { name in
      switch FakeTable.text(name) {
      case TASKHOST_EXTENSION_REQUESTS: UnsafeRawPointer(FakeTable.requests)
      case TASKHOST_EXTENSION_RESOURCES: UnsafeRawPointer(FakeTable.resources)
      default: nil
      }
    }
    fillUnused(&api)
    return api
  }

  /// A table has every function: these are the ones that the module never calls.
  private static func fillUnused(_ api: inout taskhost_api) {
    let unused: @convention(c) () -> Void = { fatalError("the module called a function that the fake host does not have") }
    withUnsafeMutableBytes(of: &api) { bytes in
      for offset in stride(from: 8, to: bytes.count, by: 8) where bytes.load(fromByteOffset: offset, as: UInt.self) == 0 {
        bytes.storeBytes(of: unsafeBitCast(unused, to: UInt.self), toByteOffset: offset, as: UInt.self)
      }
    }
  }

  // As the contract says, read-only memory that is never freed.
  private nonisolated(unsafe) static let sentence = strdup("the fake host says no")
  nonisolated(unsafe) static let directory = strdup("/data")
  private nonisolated(unsafe) static let requests: UnsafeMutablePointer<taskhost_requests> = {
    let table = UnsafeMutablePointer<taskhost_requests>.allocate(capacity: 1)
    table.initialize(to: makeRequests())
    return table
  }()

  private nonisolated(unsafe) static let resources: UnsafeMutablePointer<taskhost_resources> = {
    let table = UnsafeMutablePointer<taskhost_resources>.allocate(capacity: 1)
    var contents = taskhost_resources()
    contents.struct_size = UInt32(MemoryLayout<taskhost_resources>.size)
    contents.launch_tokens = { launch, name, tokens in
      FakeTable.with(launch: launch) { host in
        tokens?.pointee = FakeTable.text(name) == "gpu" ? host.graphicsProcessors : 0
        return TASKHOST_OK
      }
    }
    table.initialize(to: contents)
    return table
  }()

  // MARK: Handles

  static func with(_ task: taskhost_task, _ function: String = "", _ body: (FakeRun) -> Int) -> taskhost_status {
    if ["submit", "list", "cancel"].contains(function), let run = graced.withLock({ $0[task] }) {
      return taskhost_status(run.host.status(of: function) ?? body(run))
    }
    noteLateCall(task, function)
    guard let run = runs.withLock({ $0[task] }), !run.isStale else { return taskhost_status(TASKHOST_ESTALE) }
    return taskhost_status(run.host.status(of: function) ?? body(run))
  }

  static func with(launch: taskhost_launch, _ function: String = "", _ body: (FakeHost) -> Int) -> taskhost_status {
    noteLateCall(launch, function)
    guard let host = launches.withLock({ $0[launch] }) else { return taskhost_status(TASKHOST_ELAUNCHED) }
    return taskhost_status(host.status(of: function) ?? body(host))
  }

  private static func noteLateCall(_ handle: UInt64, _ function: String) {
    ended.withLock { $0[handle] }?.noteLateCall(function)
  }

  static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "NULL" }

  static func bytes(_ pointer: UnsafeRawPointer?, _ length: Int) -> [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: pointer, count: length))
  }
}
