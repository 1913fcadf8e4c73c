import Dispatch
import TaskHostSDK

/// A launch handler and where it is called.
struct LaunchHandler: Sendable {
  private let executor: QueueExecutor
  private let body: @Sendable (BGTask) async -> Void

  /// A handler called on the actor it is isolated to, otherwise on `queue`; `nil`: a serial queue of the identifier.
  init(_ queue: DispatchQueue?, _ identifier: String, _ handler: @escaping @isolated(any) (BGTask) -> Void) {
    // As on iOS, the closure need not be Sendable: it is called only on the queue or actor that its author chose.
    nonisolated(unsafe) let handler = handler
    let queue = handler.isolation === MainActor.shared ? .main : queue
    executor = QueueExecutor(queue ?? DispatchQueue(label: "org.taskhost.background-tasks.\(identifier)"))
    body = { task in await handler(task) }
  }

  /// An action on its own serial queue. Its return completes the task; expiration cancels its Swift task.
  init(_ identifier: String, action: @escaping @Sendable () async -> Void) {
    let executor = QueueExecutor(DispatchQueue(label: "org.taskhost.background-tasks.\(identifier)"))
    self.executor = executor
    body = { task in
      let work = Task(executorPreference: executor) {
        await action()
        return !Task.isCancelled
      }
      task.expirationHandler = { work.cancel() }
      task.setTaskCompleted(success: await work.value)
    }
  }

  /// Whether it needs the main queue, which only a worker process is certain to serve.
  var needsMainQueue: Bool { MainQueue.isMain(executor.queue) }

  /// Calls the handler with `task` when its queue is free, unless `run` is over by then.
  func start(_ task: BGTask, _ run: TaskRun) {
    Task(executorPreference: executor) {
      guard run.begin() else { return }
      await CurrentRun.$own.withValue(run.channel.gated) { await body(task) }
      run.returned()
    }
  }
}

/// Runs Swift tasks' jobs on a dispatch queue, so that a launch handler runs on the queue its author named.
///
/// A queue works as long as it is referenced; a task that prefers this executor references it.
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
