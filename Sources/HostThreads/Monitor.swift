import Glibc
public import TaskModel

/// A lock with a condition variable on the monotonic clock.
///
/// Swift's `Mutex` has no condition variable, and a semaphore cannot wait until a deadline of the monotonic clock.
public final class Monitor: @unchecked Sendable {  // reason: pthread's mutex and condition are made to be shared; their memory never moves
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// Creates an unlocked monitor.
  public init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Takes the lock, after waiting for another thread that holds it.
  @inline(__always) public func lock() { pthread_mutex_lock(mutex) }

  /// Releases the lock.
  @inline(__always) public func unlock() { pthread_mutex_unlock(mutex) }

  /// Runs `body` with the lock held.
  @inline(__always) public func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Releases the lock until a thread signals, then takes it again. Call it with the lock held. May return without a signal.
  public func wait() { pthread_cond_wait(condition, mutex) }

  /// Like ``wait()``, but returns false once `deadline` has passed.
  @discardableResult public func wait(until deadline: MonotonicTime) -> Bool {
    guard deadline != .distantFuture else {
      wait()
      return true
    }
    var time = timespec()
    time.tv_sec = Int(deadline.nanoseconds / 1_000_000_000)
    time.tv_nsec = Int(deadline.nanoseconds % 1_000_000_000)
    return pthread_cond_timedwait(condition, mutex, &time) == 0
  }

  /// Wakes one waiting thread.
  public func signal() { pthread_cond_signal(condition) }

  /// Wakes all waiting threads.
  public func broadcast() { pthread_cond_broadcast(condition) }
}
