public import TaskModel

/// A value that is accessible only with a lock held, as with `Synchronization.Mutex`.
///
/// Swift's `Mutex` is its own futex, which ThreadSanitizer does not know: it reports every access to the guarded value as a race. This
/// class uses a pthread mutex, which ThreadSanitizer knows.
///
/// The lock is not recursive. Copies of the reference share the value. For a lock without a value take a ``Monitor``: ThreadSanitizer
/// reports access to a value of no size as a race with reads of this object's header.
public final class Guarded<Value>: @unchecked Sendable {  // reason: the value is touched with the lock held only
  @usableFromInline let monitor = Monitor()
  @usableFromInline var value: Value

  /// Guards `value`, which nothing else may access from now on.
  @inlinable public init(_ value: sending Value) { self.value = value }

  /// Runs `body` with the lock held, after waiting for other threads that hold it. `body` must not keep the value or any part of it that is
  /// not `Sendable`.
  @inlinable public func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    monitor.lock()
    defer { monitor.unlock() }
    return try body(&value)
  }

  /// What a waiting thread sees when it checks its condition.
  public enum Look<Result> {
    case done(Result)
    /// Check again when a thread signals, at the latest at this time.
    case again(by: MonotonicTime = .distantFuture)
  }

  /// Runs `body` with the lock held until it returns `done`. In between, releases the lock until a thread signals.
  ///
  /// - Parameter pause: Releases the lock and waits for a signal or until that time, then takes the lock again. May return earlier.
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

  /// Runs `body` with the lock held until it returns a value. After each nil, releases the lock until a thread signals.
  ///
  /// - Returns: Nil if `deadline` has passed and `body` still has no value.
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

  /// Wakes one waiting thread.
  public func signal() { monitor.signal() }

  /// Wakes all waiting threads.
  public func broadcast() { monitor.broadcast() }
}

extension Guarded.Look: Sendable where Result: Sendable {}
