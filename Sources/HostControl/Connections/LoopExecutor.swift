import NIOCore

/// Runs a task's jobs on one event loop.
///
/// A task that waited for another thread would go on on any loop of the process, and its answer would then need a second change of
/// threads to reach its connection.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
