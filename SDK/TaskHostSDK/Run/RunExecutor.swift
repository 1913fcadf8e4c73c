#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Runs the jobs of one run on the thread that calls ``drain()``, in order of arrival.
///
/// Any thread may enqueue, also after the run has finished. A job left over or added then belongs to code that outlived the run, such as an
/// unstructured task with this executor or an actor shared with other runs. It goes to the global concurrent executor. A task with this
/// executor holds a reference to it.
///
/// `@unchecked Sendable`: all mutable state is read and written under `mutex`.
final class RunExecutor: TaskExecutor, @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var incoming: [UnownedJob] = []
  private var outcome: RunVerdict?
  private var isWaiting = false
  private var isClosed = false
  private let virtualTime: VirtualTime?

  /// - Parameter virtualTime: A test host's clock, which is notified when the run's thread waits; `nil` in a real host.
  init(_ virtualTime: VirtualTime? = nil) {
    self.virtualTime = virtualTime
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wakeUp, nil)
  }

  deinit {
    pthread_cond_destroy(wakeUp)
    pthread_mutex_destroy(mutex)
    wakeUp.deallocate()
    mutex.deallocate()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Once the mutex is unlocked, the run's thread may run the job, finish and free this object, so nothing of it is used after that.
    let mutex = mutex
    pthread_mutex_lock(mutex)
    let isClosed = isClosed
    if !isClosed {
      incoming.append(job)
      wake()
    }
    pthread_mutex_unlock(mutex)
    if isClosed { globalConcurrentExecutor.enqueue(job) }
  }

  /// Sets the run's outcome; ``drain()`` returns once its taken jobs are done. Called once, from any thread.
  func finish(_ outcome: RunVerdict) {
    let mutex = mutex
    pthread_mutex_lock(mutex)
    self.outcome = outcome
    wake()
    pthread_mutex_unlock(mutex)
  }

  /// With the mutex held.
  private func wake() {
    guard isWaiting else { return }
    virtualTime?.working()
    pthread_cond_signal(wakeUp)
  }

  /// Runs jobs on the calling thread, and waits for more, until the run has finished. Called once.
  func drain() -> RunVerdict {
    let executor = asUnownedTaskExecutor()
    var batch: [UnownedJob] = []
    while true {
      pthread_mutex_lock(mutex)
      while outcome == nil && incoming.isEmpty {
        isWaiting = true
        virtualTime?.waiting()
        pthread_cond_wait(wakeUp, mutex)
        isWaiting = false
      }
      swap(&batch, &incoming)
      if let outcome {
        isClosed = true
        pthread_mutex_unlock(mutex)
        for job in batch { globalConcurrentExecutor.enqueue(job) }
        return outcome
      }
      pthread_mutex_unlock(mutex)
      for job in batch { job.runSynchronously(on: executor) }
      batch.removeAll(keepingCapacity: true)
    }
  }
}
