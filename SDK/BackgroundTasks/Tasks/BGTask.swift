public import Foundation

/// One run, as its launch handler sees it: the part that all kinds of tasks have in common. Made by the scheduler alone.
///
/// Usable from any thread, and harmless once the run is over.
/// `@unchecked Sendable`: it has nothing that changes; the run it stands for locks its own state.
open class BGTask: NSObject, @unchecked Sendable {
  /// The task identifier, as it was submitted.
  public let identifier: String

  let run: TaskRun

  init(_ run: TaskRun) {
    identifier = run.identifier
    self.run = run
    super.init()
  }

  deinit { run.released() }

  /// Called once when the run must end; then, or when the task is completed, it becomes `nil`.
  ///
  /// Runs on the main queue where it was set there, else on a queue of its own, so also while the launch handler blocks its queue. The run
  /// is stopped by force when its grace (refresh 5 s, else 30 s) is over. A run that expires while no handler is set is completed as a
  /// failure at once; a handler that is set after that is called where it is set, so that work which has begun is told.
  open var expirationHandler: (() -> Void)? {
    get { run.expirationHandler }
    set { run.expirationHandler = newValue }
  }

  /// Ends the run once the launch handler has returned too. The first call counts; a later one is noted in the log.
  ///
  /// - Parameter success: True: the request has succeeded. False: it is tried again after a backoff, as long as it has attempts left.
  open func setTaskCompleted(success: Bool) {
    run.complete(success: success)
  }
}
