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
}
