public import Foundation

/// One run, as its launch handler sees it: the part that all kinds of tasks share. Only the scheduler creates tasks.
///
/// Usable from any thread; has no effect once the run is over.
/// `@unchecked Sendable`: it has no mutable state; its run locks its own.
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

  /// Called once when the run must end. It becomes `nil` then, and when the task is completed.
  ///
  /// Runs on the main queue if it was set there, else on its own queue, so it is called even while the launch handler blocks its queue. The
  /// run is stopped by force when its grace (refresh 5 s, else 30 s) is over. If a run expires without a handler, it is completed as a
  /// failure at once; a handler that is set later is called immediately by the setter, so that running work learns of it.
  open var expirationHandler: (() -> Void)? {
    get { run.expirationHandler }
    set { run.expirationHandler = newValue }
  }

  /// Completes the task; the run ends when the launch handler has returned too. The first call counts; the log mentions a later one.
  ///
  /// - Parameter success: True: the request has succeeded. False: it is retried after a backoff, as long as it has attempts left.
  open func setTaskCompleted(success: Bool) {
    run.complete(success: success)
  }
}

/// A short run that brings the app's data up to date: 30 s.
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}  // reason: has nothing of its own

/// A run of minutes: 10, unless the operator's configuration says otherwise.
open class BGProcessingTask: BGTask, @unchecked Sendable {}  // reason: has nothing of its own

/// A run of minutes in a health research study.
open class BGHealthResearchTask: BGProcessingTask, @unchecked Sendable {}  // reason: has nothing of its own
