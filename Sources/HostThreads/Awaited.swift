public import TaskModel

/// A value that one thread sets, once, and that others wait for.
public final class Awaited<Value: Sendable>: Sendable {
  private let value = Guarded<Value?>(nil)

  /// Creates one without a value.
  public init() {}

  /// Sets the value and wakes all waiting threads.
  public func set(_ value: Value) {
    self.value.withLock { $0 = value }
    self.value.broadcast()
  }

  /// Waits for the value.
  public func wait() -> Value {
    while true { if let value = wait(until: .distantFuture) { return value } }
  }

  /// Waits for the value, but not past `deadline` of the system's clock; nil if that came first.
  public func wait(until deadline: MonotonicTime) -> Value? { value.wait(until: deadline) { $0 } }
}
