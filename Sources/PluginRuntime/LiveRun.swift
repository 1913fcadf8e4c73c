import CTaskHost
import CTaskHostSystem
import Glibc
import HostThreads
package import TaskModel

/// A run from its order until its handler has returned. The functions of the host's table operate on it.
///
/// Life: `waiting` for its thread → `live` → `closed`, by the handler's return or by force. A closed run refuses all calls.
/// After force the handler may still be running: the payload and the descriptor live on until it returns, because its thread holds the run.
package final class LiveRun: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  enum Phase { case waiting, live, closed }
  /// The progress of the single call of the expiration handler.
  enum Callback { case none, calling(pthread_t), returned }

  let order: RunOrder
  /// The kinds of all handlers of its plugin.
  let kinds: [TaskIdentifier: TaskKind]
  package let services: any RunServices
  package let clock: any RunClock
  let sink: @Sendable (LauncherEvent) -> Void
  /// It expires this long after its `completed` last increased; nil for no stall limit.
  let stallLimit: Duration?
  let monitor = Monitor()
  /// Its handle for plugins; set once, before any other code sees the run.
  var handle: taskhost_task = 0

  // The following properties are accessed with `monitor` held.
  var phase = Phase.waiting
  /// When its budget is spent.
  var budgetEnd = MonotonicTime.distantFuture
  /// When it counts as stalled; moves on with progress.
  var stallEnd = MonotonicTime.distantFuture
  /// Why it expired; nil if it has not.
  var stop: StopReason?
  var expiredAt = MonotonicTime.distantFuture
  var forceAt = MonotonicTime.distantFuture
  /// Requested by the host, and not yet performed by a deadline thread.
  var requestedStop: StopReason?
  var requestedForce: StopReason?
  /// It expired, and the `expired` event is still to be sent by the code that takes it from here.
  var unannounced: StopReason?
  /// It was closed by force while its handler ran, and the resulting events are not sent yet.
  var isBeingAbandoned = false
  var expirationHandler: taskhost_expiration_handler?
  var expirationContext: UnsafeMutableRawPointer?
  var callback = Callback.none
  var eventDescriptor: Int32 = -1
  var payload: UnsafeMutableRawPointer?
  var requestID: UnsafePointer<CChar>?
  var highestCompleted: UInt64 = 0
  /// The number of its handler's thread, once the handler runs.
  private var thread: Int32?
  var report = RunReport()
  /// Limits log lines: a run that logs endlessly must not fill the host's log or occupy its thread.
  var lines = RateAllowance(burst: Limits.logBurst, perSecond: Limits.logRate)
  /// Limits progress reports; the last progress comes with its end.
  var progressReports = RateAllowance(burst: Limits.progressBurst, perSecond: Limits.progressRate)

  init(
    order: RunOrder, kinds: [TaskIdentifier: TaskKind] = [:], stallLimit: Duration?, services: any RunServices,
    clock: any RunClock = MachineClock(), sink: @escaping @Sendable (LauncherEvent) -> Void
  ) {
    self.order = order
    self.kinds = kinds
    self.stallLimit = stallLimit
    self.services = services
    self.clock = clock
    self.sink = sink
  }

  deinit {
    if eventDescriptor >= 0 { Glibc.close(eventDescriptor) }
    free(payload)
    free(UnsafeMutablePointer(mutating: requestID))
  }

  package var context: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  /// How a run ended, for the sink.
  struct End {
    let ending: RunEnding
    let report: RunReport
    /// A line of the host at the end of its log, to be reported.
    let lastLine: LogLine?
    /// Its `expired` event, if not sent yet.
    let unannounced: StopReason?
    /// Whether it was closed by force while its handler still runs.
    let isAbandoned: Bool
  }

  /// Starts the clock before the handler is called.
  ///
  /// - Returns: When it expires by itself. Nil if it was stopped or taken back while it waited, and is not to be called.
  /// - Parameter thread: The number of the calling thread, which will call it.
  func begin(on thread: Int32) -> MonotonicTime? {
    monitor.locked {
      guard phase == .waiting else { return nil }
      phase = .live
      self.thread = thread
      let now = clock.now
      if let budget = order.contract.budget { budgetEnd = now + budget }
      if let stallLimit { stallEnd = now + stallLimit }
      return deadline
    }
  }

  /// The current thread of its handler; nil if it was not called yet, or the run has ended.
  var threadOfLiveHandler: Int32? { monitor.locked { phase == .live ? thread : nil } }

  /// The resources that the handler's call used.
  struct Usage {
    var began: WallTime
    var handlerTime: Duration
    var cpuTime: Duration
    /// Bytes; nil means not measured.
    var peakMemory: Int?
  }

  /// Ends the run after its handler returned. Nil if it was already closed by force.
  func end(result: taskhost_result, usage: Usage) -> End? {
    monitor.locked {
      guard phase != .closed else { return nil }
      note(usage)
      let decoded = TaskResult(result)
      if case .outOfRange(let value) = decoded {
        let flaw = "the handler returned \(value), which is not a taskhost_result"
        report.message = report.message.map { "\($0) (\(flaw))" } ?? flaw
      }
      return closed(.returned(decoded, stop: stop))
    }
  }

  /// Ends the run after its handler ended its thread instead of returning. Nil if it was already closed by force.
  func vanish(usage: Usage) -> End? {
    monitor.locked {
      guard phase != .closed else { return nil }
      note(usage)
      report.message = "the handler ended its thread (pthread_exit) instead of returning"
      return closed(.returned(.retry, stop: stop))
    }
  }

  /// With the lock held.
  private func note(_ usage: Usage) {
    report.began = usage.began
    report.handlerTime = usage.handlerTime
    report.cpuTime = usage.cpuTime
    report.peakMemory = usage.peakMemory
  }

  /// Ends a run that cannot begin as a RETRY with the reason. Nil if it had already ended.
  func abandonStart(_ reason: String) -> End? {
    monitor.locked {
      guard phase != .closed else { return nil }
      report.message = reason
      return closed(.returned(.retry, stop: stop))
    }
  }

  /// Takes the run back: its handler is not called. Returns false if it has begun or ended.
  func withdraw() -> Bool {
    monitor.locked {
      guard phase == .waiting else { return false }
      phase = .closed
      return true
    }
  }

  /// Closes the run although its handler has not returned. Nil if it had already ended.
  ///
  /// If the handler still runs, ``abandonmentIsTold()`` follows.
  ///
  /// - Parameter trouble: Where its handler hangs.
  func close(byForce reason: StopReason, trouble: String?) -> End? {
    monitor.locked {
      guard phase != .closed else { return nil }
      isBeingAbandoned = phase == .live
      if stop == nil { stop = reason }
      report.forced = true
      report.trouble = trouble
      if eventDescriptor >= 0 { _ = taskhost_system_event_set(eventDescriptor) }
      return closed(.forced(reason), isAbandoned: isBeingAbandoned)
    }
  }

  /// With the lock held: sleepers learn that the run is over.
  private func closed(_ ending: RunEnding, isAbandoned: Bool = false) -> End {
    phase = .closed
    let dropped = droppedLines()
    if let dropped { keep(dropped) }
    report.stopReason = stop
    if stop != nil { report.stopStage = isAbandoned ? .abandoned : .asked }
    defer { unannounced = nil }
    monitor.broadcast()
    return End(ending: ending, report: report, lastLine: dropped, unannounced: unannounced, isAbandoned: isAbandoned)
  }

  /// Called when the events of the run's abandonment have been sent.
  func abandonmentIsTold() {
    monitor.locked {
      isBeingAbandoned = false
      monitor.broadcast()
    }
  }

  /// Waits for ``abandonmentIsTold()``: the events of the handler's late return must not overtake it.
  func awaitAbandonmentTold() {
    monitor.locked { while isBeingAbandoned { monitor.wait() } }
  }
}
