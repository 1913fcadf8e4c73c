// Faults 43 and 72, in Swift. The payload says which: "index", "overflow", "unwrap", "precondition" trap; "pool" blocks every thread
// of Swift's cooperative pool for ever and waits for its expiration; "task" is well behaved, and needs that pool.
// Compiled with taskhost.h as its bridging header.
import Glibc

/// The host's functions; set once, before any run.
nonisolated(unsafe) private var api: UnsafePointer<taskhost_api>?

/// A semaphore that tasks and handlers share.
private final class Signal: @unchecked Sendable {  // reason: a semaphore is made to be shared
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  func send() { sem_post(semaphore) }
  func wait() { while sem_wait(semaphore) != 0 {} }
}

private func payload(of task: taskhost_task) -> String {
  var (bytes, length): (UnsafeRawPointer?, Int) = (nil, 0)
  guard api?.pointee.payload(task, &bytes, &length) == taskhost_status(TASKHOST_OK), let bytes else { return "" }
  return String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
}

@inline(never) private func number(_ text: String) -> Int { text.utf8.count }

/// Blocks the pool, then waits until the run is told to end: the pool never serves the task that would wake it.
private func blockPool(_ task: taskhost_task) -> taskhost_result {
  for _ in 0..<256 {
    Task.detached { while true { pause() } }
  }
  var descriptor = pollfd(fd: api?.pointee.expiration_fd(task) ?? -1, events: Int16(POLLIN), revents: 0)
  while poll(&descriptor, 1, -1) < 0 {}
  return taskhost_result(TASKHOST_SUCCESS)
}

private func handle(_ task: taskhost_task, _ context: UnsafeMutableRawPointer?) -> taskhost_result {
  let text = payload(of: task)
  switch text {
  case "\"index\"":
    let empty = [Int](repeating: 1, count: number(text) - 7)
    return taskhost_result(empty[number(text)])
  case "\"overflow\"":
    return taskhost_result(Int32.max - 1 + Int32(number(text)))
  case "\"unwrap\"":
    let none: Int? = number(text) == 0 ? 1 : nil
    // swift-format-ignore: NeverForceUnwrap
    return taskhost_result(none!)
  case "\"precondition\"":
    preconditionFailure("this plugin does not hold what it promises")
  case "\"pool\"":
    return blockPool(task)
  case "\"task\"":
    let done = Signal()
    Task.detached { done.send() }
    done.wait()
    return taskhost_result(TASKHOST_SUCCESS)
  default:
    return taskhost_result(TASKHOST_SUCCESS)
  }
}

/// The plugin's one entry.
@c(taskhost_plugin_launch) public func launch(_ table: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  api = table
  var registration = taskhost_registration()
  registration.struct_size = UInt32(MemoryLayout<taskhost_registration>.size)
  registration.kind = taskhost_kind(TASKHOST_PROCESSING)
  registration.handler = handle
  registration.max_concurrent_runs = 2
  #if TWIN
    let identifier = "test.swift-twin"
  #else
    let identifier = "test.swift"
  #endif
  return identifier.withCString {
    registration.identifier = $0
    return table?.pointee.register_handler(launch, &registration) ?? taskhost_status(TASKHOST_EINVAL)
  }
}
