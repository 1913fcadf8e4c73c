import Foundation

/// Lets calls reach the host while a run's handle is valid, and makes the run's end wait for calls in progress.
///
/// Code for iOS may use a task long after its run. Usable from any thread; `@unchecked Sendable`: `condition` guards what changes.
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

  /// Closes the gate and waits for calls in progress.
  func close() {
    condition.withLock {
      isClosed = true
      while calls > 0 { condition.wait() }
    }
  }
}
