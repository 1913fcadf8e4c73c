public import TaskModel

/// A value that one thread sets, once, and that others wait for.
public final class Awaited<Value: Sendable>: @unchecked Sendable {  // reason: `value` is touched with `monitor` held
  private let monitor = Monitor()
  private var value: Value?

  /// Creates one without a value.
  public init() {}

  /// Sets the value and wakes all waiting threads.
  public func set(_ value: Value) {
    monitor.locked {
      self.value = value
      monitor.broadcast()
    }
  }

  /// Waits for the value.
  public func wait() -> Value {
    while true { if let value = wait(until: .distantFuture) { return value } }
  }

  /// Waits for the value, but not past `deadline` of the system's clock; nil if that came first.
  public func wait(until deadline: MonotonicTime) -> Value? {
    monitor.locked {
      while value == nil, monitor.wait(until: deadline) {}
      return value
    }
  }
}
