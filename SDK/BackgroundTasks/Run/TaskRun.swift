import CTaskHost
import Dispatch
import Foundation
import Synchronization
import TaskHostSDK

/// One run, from the host's call to the value it returns. Usable from any thread; after its end calls do nothing.
final class TaskRun: Sendable {
  let identifier: String
  let hostIdentifier: String
  let type: BackgroundTasksPlugin.Kind
  let channel: RunChannel
  private let core: SchedulerCore
  private let state = Mutex(RunState())
  /// Signalled at each change that concerns the run's thread.
  private let changed = DispatchSemaphore(value: 0)

  init(_ core: SchedulerCore, _ channel: RunChannel, identifier: String, hostIdentifier: String, type: BackgroundTasksPlugin.Kind) {
    self.core = core
    self.channel = channel
    self.identifier = identifier
    self.hostIdentifier = hostIdentifier
    self.type = type
  }

  /// Starts the launch handler and waits for the end. Called on the run's thread.
  ///
  /// - Parameters:
  ///   - handler: The launch handler.
  ///   - record: The contents of the request's payload.
  ///   - budget: A budget shorter than the host's, which this module enforces; `nil`: the host's alone.
  /// - Returns: The result of the C handler.
  func serve(_ handler: LaunchHandler, _ record: RequestDetails?, budget: Duration?) -> taskhost_result {
    let notBegun =
      handler.needsMainQueue
      ? "Its launch handler had not begun: it waits for the main queue, which only process isolation is sure to serve."
      : "Its launch handler had not begun: the queue it was registered with is busy."
    let expiration = RunExpiration(self, notBegun: notBegun, budget: budget)
    if !state.withLock({ $0.isOver }) { handler.start(task(record), self) }
    while !state.withLock({ $0.isOver }) { changed.wait() }
    waitForSuccessor()
    core.transfers.flush(channel.run) { self.log($0, $1) }
    expiration.clear()
    let end = state.withLock { $0 }
    if let message = end.message { setMessage(message) }
    if case .host = end.cause { core.runs.keepForSubmissions(channel) }
    channel.close()
    if end.success == true { return taskhost_result(end.isNoop ? TASKHOST_NOOP : TASKHOST_SUCCESS) }
    // A person started the run and sees it end: after taking too long, it must not start again unnoticed.
    return taskhost_result(type == .continued && end.cause?.isOvertime == true ? TASKHOST_FAILURE : TASKHOST_RETRY)
  }

  /// Waits a moment, because code for iOS may submit its next request just after completing the task, and requests reach the host through
  /// the run. After an expiration by the host, the channel stays open: see ``LiveRuns/keepForSubmissions(_:)``.
  private func waitForSuccessor() {
    guard type != .continued else { return }
    let begin = DispatchTime.now()
    while true {
      let (hasSuccessor, cause) = state.withLock { ($0.hasSuccessor, $0.cause) }
      let patience: Duration
      switch cause {
      case nil: patience = core.timing.successor
      case .refresh: patience = core.timing.refreshGrace
      case .host: patience = .zero
      }
      guard !hasSuccessor, patience > .zero, changed.wait(timeout: begin + patience.dispatchInterval) == .success else { break }
    }
    core.submitting.withLock {}  // waits for a submission in progress
  }

  private func task(_ record: RequestDetails?) -> BGTask {
    switch type {
    case .refresh: BGAppRefreshTask(self)
    case .processing: BGProcessingTask(self)
    case .healthResearch: BGHealthResearchTask(self)
    case .continued: BGContinuedProcessingTask(self, title: record?.title ?? "", subtitle: record?.subtitle ?? "")
    }
  }

  /// Records that the launch handler is about to be called; false if it must not be.
  func begin() -> Bool { state.withLock { $0.begin() } }

  func returned() { change { $0.returned() } }

  func complete(success: Bool, isNoop: Bool = false) {
    let (isFirst, hasExpired) = change { ($0.complete(success: success, isNoop: isNoop), $0.wasCompletedByExpiry) }
    guard !isFirst else { return }
    log(
      .warning,
      hasExpired
        ? "\(identifier): setTaskCompleted(success: \(success)) comes after the run expired without an expirationHandler; it counts as failed"
        : "\(identifier): setTaskCompleted was called more than once; the first call counts")
  }

  func expire(_ cause: ExpirationCause, notBegun: String) {
    let handler = change { $0.expire(cause, notBegun: notBegun) }
    handler?.call { self.change { $0.callReturned() } }
  }

  var expirationHandler: (() -> Void)? {
    get { state.withLock { $0.expiration }?.body }
    set {
      let handler = newValue.map { ExpirationHandler($0) }
      let late = state.withLock { $0.set(handler) }
      late?.body()
    }
  }

  func noteSuccessor() { change { $0.hasSuccessor = true } }

  /// Ends the run as a failure unless it is completed: the author's task object is gone, so nobody can complete it.
  func released() {
    // The line comes first: a completed run may end before the line reaches the host.
    guard state.withLock({ $0.success == nil }) else { return }
    log(.warning, "\(identifier): its task was released without a call of setTaskCompleted; it counts as completed with success: false")
    _ = change { $0.abandon() }
  }

  @discardableResult
  private func change<Result: Sendable>(_ body: (inout RunState) -> Result) -> Result {
    let result = state.withLock { body(&$0) }
    changed.signal()
    return result
  }

  /// Reports progress.
  ///
  /// - Returns: False once the run is over.
  func report(completed: UInt64, total: UInt64) -> Bool {
    let status = channel.call { $0.functions.pointee.progress($0.task, completed, total) }
    return status.map { $0 != taskhost_status(TASKHOST_ESTALE) } ?? false
  }

  func show(title: String, subtitle: String) {
    let text = subtitle.isEmpty ? title : "\(title): \(subtitle)"
    setMessage(text)
    _ = channel.log(.info, text)
  }

  /// Writes a line to the run's log, or to the plugin's log if the host has given the run up. Does nothing once the run is over.
  func log(_ level: Logger.Level, _ text: String) {
    if channel.log(level, text) == false { core.log(level, text) }
  }

  private func setMessage(_ text: String) {
    channel.call { $0.setMessage(text) }
  }
}
