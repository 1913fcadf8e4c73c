#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock with two conditions: one for the clock's thread, which alone waits for it, one for all threads of plugins that wait.
final class TestMonitor: @unchecked Sendable {  // reason: pthread's objects are made to be shared; their memory never moves
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let clockWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let plugins = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(clockWork, &attributes)
    pthread_cond_init(plugins, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(clockWork)
    pthread_cond_destroy(plugins)
    pthread_mutex_destroy(mutex)
    clockWork.deallocate()
    plugins.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    lock()
    defer { unlock() }
    return try body()
  }

  /// With the lock held, on a plugin's thread: waits until something was announced to plugins. May return without.
  func waitAsPlugin() { pthread_cond_wait(plugins, mutex) }

  /// With the lock held: wakes all threads of plugins that wait, for them to look again.
  func wakePlugins() { pthread_cond_broadcast(plugins) }

  /// With the lock held, on the clock's thread: waits for work, at most until that many nanoseconds of real time; `nil`: forever.
  func waitAsClock(until deadline: UInt64?) {
    guard let deadline else {
      pthread_cond_wait(clockWork, mutex)
      return
    }
    var time = timespec()
    time.tv_sec = Int(deadline / 1_000_000_000)
    time.tv_nsec = Int(deadline % 1_000_000_000)
    pthread_cond_timedwait(clockWork, mutex, &time)
  }

  /// Wakes the clock's thread.
  func wakeClock() { pthread_cond_signal(clockWork) }

  /// The machine's monotonic clock in nanoseconds.
  static var realNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
