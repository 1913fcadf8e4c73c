// Uses the main thread as Apple's frameworks and code for them do. Its output tells what came: a JSON object, 0 is the main thread, 1 is not.
// Compiled with taskhost.h as its bridging header.
import Foundation
import Glibc

/// The host's functions; set once, before any run.
nonisolated(unsafe) private var api: UnsafePointer<taskhost_api>?
/// Whether the launch came on the main thread.
nonisolated(unsafe) private var launched = 1

/// What was seen, by name; kept by any thread.
private final class Sightings: @unchecked Sendable {  // reason: `seen` is touched with `lock` held
  private let lock = NSCondition()
  private var seen: [String: Int] = [:]

  func note(_ name: String) {
    lock.lock()
    seen[name] = Thread.isMainThread ? 0 : 1
    lock.broadcast()
    lock.unlock()
  }

  /// What was seen by the time that there were so many, or that it is too late.
  func wait(for count: Int) -> [String: Int] {
    let deadline = Date(timeIntervalSinceNow: 20)
    lock.lock()
    defer { lock.unlock() }
    while seen.count < count, lock.wait(until: deadline) {}
    return seen
  }
}

private func handle(_ task: taskhost_task, _ context: UnsafeMutableRawPointer?) -> taskhost_result {
  let sightings = Sightings()
  let name = Notification.Name("test.posted")
  let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { _ in sightings.note("observer") }
  let timer = Timer(timeInterval: 0.01, repeats: false) { _ in sightings.note("timer") }
  RunLoop.main.add(timer, forMode: .common)
  RunLoop.main.perform { sightings.note("perform") }
  DispatchQueue.main.async {
    sightings.note("async")
    // What main-thread code does when it meets code that wants the main thread.
    if Thread.isMainThread { sightings.note("nested") } else { DispatchQueue.main.sync { sightings.note("nested") } }
  }
  DispatchQueue.main.sync { sightings.note("sync") }
  Task { @MainActor in sightings.note("actor") }
  NotificationCenter.default.post(name: name, object: nil)
  var seen = sightings.wait(for: 7)
  NotificationCenter.default.removeObserver(observer)
  seen["launch"] = launched
  let output = "{" + seen.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
  _ = output.withCString { api?.pointee.set_output(task, $0, strlen($0)) }
  return taskhost_result(TASKHOST_SUCCESS)
}

/// The plugin's one entry.
@c(taskhost_plugin_launch) public func launch(_ table: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  api = table
  launched = Thread.isMainThread ? 0 : 1
  var registration = taskhost_registration()
  registration.struct_size = UInt32(MemoryLayout<taskhost_registration>.size)
  registration.kind = taskhost_kind(TASKHOST_PROCESSING)
  registration.handler = handle
  return "test.main-thread".withCString {
    registration.identifier = $0
    return table?.pointee.register_handler(launch, &registration) ?? taskhost_status(TASKHOST_EINVAL)
  }
}
