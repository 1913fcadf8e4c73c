import HostThreads

/// Lets a plugin's thread wait for an answer from another thread. Never used on threads of the host or of Swift's cooperative pool.
final class Blocking<Value: Sendable>: @unchecked Sendable {  // reason: touched with `monitor` held
  private let monitor = Monitor()
  private var value: Value?

  /// Call it once.
  func resume(_ value: Value) {
    monitor.locked {
      self.value = value
      monitor.signal()
    }
  }

  func wait() -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      if let value { return value }
      monitor.wait()
    }
  }
}
