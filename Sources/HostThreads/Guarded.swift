public import TaskModel

/// A value that is reached with a lock held, as with `Synchronization.Mutex`.
///
/// `Mutex` is a futex of Swift's own, which ThreadSanitizer does not know: it reports every access to what that guards as a race. This is
/// pthread's mutex, which it knows.
///
/// Not recursive. Copies of the reference share the value.
public final class Guarded<Value>: @unchecked Sendable {  // reason: the value is touched with the lock held only
  @usableFromInline let monitor = Monitor()
  @usableFromInline var value: Value

  /// Guards `value`, which nobody else may reach from here on.
  @inlinable public init(_ value: sending Value) { self.value = value }

  /// Runs `body` with the lock held; waits while another thread holds it. `body` must not keep the value, nor anything that is not
  /// `Sendable` in it.
  @inlinable public func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    monitor.lock()
    defer { monitor.unlock() }
    return try body(&value)
  }

  /// What a thread finds when it looks whether it has waited long enough.
  public enum Look<Result> {
    case done(Result)
    /// Look again when somebody signals, and at that time at the latest.
    case again(by: MonotonicTime = .distantFuture)
  }

  /// Runs `body` with the lock held until it is done; in between, gives the lock back until somebody signals.
  ///
  /// - Parameter pause: Waits on the lock, which it gives back meanwhile, until a signal or that time; may return earlier.
  @inlinable public func wait<Result, Failure: Error>(
    pausing pause: (Monitor, MonotonicTime) -> Void = { $0.wait(until: $1) },
    for body: (inout sending Value) throws(Failure) -> sending Look<Result>
  ) throws(Failure) -> sending Result {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      switch try body(&value) {
      case .done(let result): return result
      case .again(let deadline): pause(monitor, deadline)
      }
    }
  }

  /// Runs `body` with the lock held until it returns a value; after each nil, gives the lock back until somebody signals.
  ///
  /// - Returns: Nil if `deadline` has come and `body` has no value even then.
  @inlinable public func wait<Result, Failure: Error>(
    until deadline: MonotonicTime = .distantFuture, for body: (inout sending Value) throws(Failure) -> sending Result?
  ) throws(Failure) -> sending Result? {
    var isLast = false
    return try wait { (value) throws(Failure) -> Look<Result?> in
      let result = try body(&value)
      defer { isLast = SystemClock.now >= deadline }
      return result != nil || isLast ? .done(result) : .again(by: deadline)
    }
  }

  /// Wakes one thread that waits.
  public func signal() { monitor.signal() }

  /// Wakes all threads that wait.
  public func broadcast() { monitor.broadcast() }
}

extension Guarded.Look: Sendable where Result: Sendable {}
