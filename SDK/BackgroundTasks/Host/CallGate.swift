import Foundation

/// Lets calls to the host pass while a run's handle is valid, and makes the end of the run wait for calls in progress.
///
/// Code for iOS may keep a task and use it long after its run. Usable from any thread; `@unchecked Sendable`: `condition` guards what changes.
final class CallGate: @unchecked Sendable {
  private let condition = NSCondition()
  private var calls = 0
  private var isClosed = false

  /// Calls `body`, unless the gate is closed.
  ///
  /// - Returns: What `body` returns; `nil` if the gate is closed.
  func pass<Result>(_ body: () throws -> Result) rethrows -> Result? {
    let mayPass = condition.withLock {
      if !isClosed { calls += 1 }
      return !isClosed
    }
    guard mayPass else { return nil }
    defer {
      condition.withLock {
        calls -= 1
        condition.broadcast()
      }
    }
    return try body()
  }

  /// Closes the gate, and returns when the last call has returned.
  func close() {
    condition.withLock {
      isClosed = true
      while calls > 0 { condition.wait() }
    }
  }
}
