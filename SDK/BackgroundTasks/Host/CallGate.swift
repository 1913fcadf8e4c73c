import Foundation

/// Lets calls to the host through as long as a run's handle is valid, and has the end of the run wait for those that are under way.
///
/// Code for iOS may keep a task and use it long after its run. Usable from any thread; `@unchecked Sendable`: what changes is behind
/// `condition`.
final class CallGate: @unchecked Sendable {
  private let condition = NSCondition()
  private var calls = 0
  private var isClosed = false

  /// Calls `body`, unless the gate is closed.
  ///
  /// - Returns: What `body` returns, `nil` when the gate is closed.
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

  /// Lets no call through any more, and returns when the last has returned.
  func close() {
    condition.withLock {
      isClosed = true
      while calls > 0 { condition.wait() }
    }
  }
}
