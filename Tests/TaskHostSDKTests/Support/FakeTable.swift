import CTaskHost
import Foundation
import Synchronization

/// The C functions of ``FakeHost``: they find the launch or run by its handle, as the real host does.
enum FakeTable {
  static let launches = Mutex<[taskhost_launch: FakeHost]>([:])
  static let runs = Mutex<[taskhost_task: FakeRun]>([:])
  private static let lastHandle = Atomic<UInt64>(0)
  private static let errorKey = "org.taskhost.tests.lastError"

  static func newHandle() -> UInt64 { lastHandle.add(1, ordering: .relaxed).newValue }

  static func make() -> taskhost_api {
    var api = taskhost_api()
    api.struct_size = UInt32(MemoryLayout<taskhost_api>.size)
    api.abi_version = 1
    fillLaunchPhase(&api)
    fillRunPhase(&api)
    fillExpiration(&api)
    fillStorage(&api)
    api.last_error = { FakeTable.lastError() }
    api.extension = { _ in nil }
    return api
  }

  // MARK: Errors

  static func clearLastError() { Thread.current.threadDictionary.removeObject(forKey: errorKey) }

  /// Answers a status, keeping a sentence for `last_error`.
  static func answer(_ status: Int, _ sentence: String = "") -> taskhost_status {
    if status != TASKHOST_OK {
      Thread.current.threadDictionary[errorKey] = CText(sentence.isEmpty ? "status \(status)" : sentence)
    }
    return taskhost_status(status)
  }

  private static func lastError() -> UnsafePointer<CChar> {
    UnsafePointer((Thread.current.threadDictionary[errorKey] as? CText ?? noError).start)
  }

  private static let noError = CText("")

  /// A C string that lives as long as this object. `@unchecked Sendable`: it is never changed.
  private final class CText: @unchecked Sendable {
    let start: UnsafeMutablePointer<CChar>

    init(_ text: String) {
      start = text.withCString { strdup($0) }
    }

    deinit { free(start) }
  }

  // MARK: Handles

  static func run(_ task: taskhost_task) -> FakeRun? {
    runs.withLock { $0[task] }.flatMap { $0.isStale ? nil : $0 }
  }

  static func with(_ task: taskhost_task, _ body: (FakeRun) -> Int) -> taskhost_status {
    guard let run = run(task) else { return answer(TASKHOST_ESTALE, "run \(task) is over") }
    return answer(body(run))
  }

  static func host(_ launch: taskhost_launch) -> FakeHost? { launches.withLock { $0[launch] } }

  static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "NULL" }

  static func bytes(_ pointer: UnsafeRawPointer?, _ length: Int) -> [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: pointer, count: length))
  }
}
