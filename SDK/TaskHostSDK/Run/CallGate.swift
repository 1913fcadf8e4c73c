import Glibc

/// Lets calls reach the host while a run's handle is valid, and makes the run's end wait for calls in progress.
///
/// Code for iOS may use a task long after its run. Usable from any thread; `@unchecked Sendable`: `mutex` guards what changes.
package final class CallGate: @unchecked Sendable {
  // Allocated, because a pthread mutex must not move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let quiet = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var calls = 0
  private var isClosed = false

  package init() {
    mutex.initialize(to: pthread_mutex_t())
    quiet.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(quiet, nil)
  }

  deinit {
    pthread_cond_destroy(quiet)
    pthread_mutex_destroy(mutex)
    quiet.deallocate()
    mutex.deallocate()
  }

  /// Calls `body`, unless the gate is closed.
  ///
  /// - Returns: What `body` returns; `nil` if the gate is closed.
  package func pass<Result>(_ body: () throws -> Result) rethrows -> Result? {
    guard enter() else { return nil }
    defer { leave() }
    return try body()
  }

  private func enter() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if !isClosed { calls += 1 }
    return !isClosed
  }

  private func leave() {
    pthread_mutex_lock(mutex)
    calls -= 1
    if calls == 0 { pthread_cond_broadcast(quiet) }
    pthread_mutex_unlock(mutex)
  }

  /// Closes the gate and waits for calls in progress.
  package func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    while calls > 0 { pthread_cond_wait(quiet, mutex) }
    pthread_mutex_unlock(mutex)
  }
}
