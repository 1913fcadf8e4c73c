import Dispatch

/// Runs the jobs of Swift tasks on a dispatch queue, so that a launch handler is called on the queue its author named.
///
/// A queue serves as long as it is referenced, and a task that prefers this executor references it.
final class QueueExecutor: TaskExecutor {
  let queue: DispatchQueue

  init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
