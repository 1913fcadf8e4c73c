public import Foundation

/// One run, as its launch handler sees it; the base class of all tasks. Only the scheduler creates tasks.
///
/// Usable from any thread; has no effect once the run is over.
/// `@unchecked Sendable`: it has no mutable state; its run locks its own.
open class BGTask: NSObject, @unchecked Sendable {
  /// The task identifier as it was submitted.
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
  /// It runs on the main queue if it was set there, otherwise on its own queue, so a launch handler that blocks its queue does not delay
  /// it. When the grace (refresh 5 s, otherwise 30 s) is over, the host stops the run by force. A run that expires without a handler is
  /// completed as a failure at once; a handler set later is called immediately by the setter, to tell work that is still in progress.
  open var expirationHandler: (() -> Void)? {
    get { run.expirationHandler }
    set { run.expirationHandler = newValue }
  }

  /// Completes the task. The run ends when the launch handler has also returned. The first call counts; later calls are logged.
  ///
  /// - Parameter success: True: the request succeeds. False: it is retried after a backoff while it has attempts left.
  open func setTaskCompleted(success: Bool) {
    run.complete(success: success)
  }

  /// Completes the task as a fetch, which iOS does not offer. Otherwise like ``setTaskCompleted(success:)``.
  ///
  /// - Parameter result: New data: the run is recorded as a success. No data: as one that had nothing to do. Failed: it is retried.
  open func setTaskCompleted(_ result: UIBackgroundFetchResult) {
    run.complete(success: result != .failed, isNoop: result == .noData)
  }

  /// Completes the task as ``setTaskCompleted(_:)`` does: what a handler of push notifications for iOS calls when its fetch has ended.
  ///
  /// ```swift
  /// appDelegate.didReceiveRemoteNotification(userInfo, fetchCompletionHandler: task.fetchCompletionHandler)
  /// ```
  public var fetchCompletionHandler: @Sendable (UIBackgroundFetchResult) -> Void { { [self] in setTaskCompleted($0) } }
}

/// What came of a fetch, with the names and numbers of UIKit.
public enum UIBackgroundFetchResult: UInt, Sendable {
  /// There was new data.
  case newData = 0
  /// There was nothing new.
  case noData = 1
  /// It failed.
  case failed = 2
}

/// A short run that brings the app's data up to date: 30 s.
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}  // reason: has nothing of its own

/// A run of 10 min, unless the operator configures another budget.
open class BGProcessingTask: BGTask, @unchecked Sendable {}  // reason: has nothing of its own

/// A run of minutes in a health research study.
open class BGHealthResearchTask: BGProcessingTask, @unchecked Sendable {}  // reason: has nothing of its own
