import HostThreads

/// Lets a plugin's thread wait for an answer that comes on another thread.
///
/// Only threads that serve one run wait here, never those of the host or of Swift's cooperative pool.
final class Blocking<Value: Sendable>: @unchecked Sendable {  // reason: touched with `monitor` held
  private let monitor = Monitor()
  private var value: Value?

  /// Gives the answer. Once.
  func resume(_ value: Value) {
    monitor.locked {
      self.value = value
      monitor.signal()
    }
  }

  /// Waits for the answer.
  func wait() -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      if let value { return value }
      monitor.wait()
    }
  }
}
