public import TaskModel

/// A value that one thread sets once and others wait for.
public final class Awaited<Value: Sendable>: Sendable {
  private let value = Guarded<Value?>(nil)

  /// Creates an awaited value that is not set yet.
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

  /// Waits for the value until `deadline`, a time of ``SystemClock``; nil if the deadline came first.
  public func wait(until deadline: MonotonicTime) -> Value? { value.wait(until: deadline) { $0 } }
}
