public import TaskModel
public import WorkerLink

/// What runs in workers ask of the host beyond their own process.
///
/// Called on the loop's thread, which serves all workers: it returns at once, and `completion` is called when the answer is durable, on
/// any thread.
public protocol WorkerServices: Sendable {
  /// Serves a call of the run phase.
  func serve(_ call: WorkerCall, for run: RunReference, completion: @escaping @Sendable (CallAnswer) -> Void)
}
