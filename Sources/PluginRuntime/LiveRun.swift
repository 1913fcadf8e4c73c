import CTaskHost
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// A run from its order until its handler has returned: what the functions of the host's table work on.
///
/// Life: `waiting` for its thread → `live` → `closed`, by the handler's return or by force. A closed run answers no call.
/// After force the handler may still be running: the payload and the descriptor live on until it returns, because its thread holds the run.
final class LiveRun: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  enum Phase { case waiting, live, closed }
  /// How far the one call of the expiration handler has come.
  enum Callback { case none, calling(pthread_t), returned }

  let order: RunOrder
  /// The kinds of all handlers of its plugin.
  let kinds: [TaskIdentifier: TaskKind]
  let services: any RunServices
  let sink: @Sendable (LauncherEvent) -> Void
  /// It expires that long after its `completed` last rose; nil means never for that.
  let stallLimit: Duration?
  let monitor = Monitor()
  /// The handle that plugins know it by; set once, before anybody else sees the run.
  var handle: taskhost_task = 0

  // What follows is touched with `monitor` held.
  var phase = Phase.waiting
  /// When its budget is spent.
  var budgetEnd = MonotonicTime.distantFuture
  /// When it counts as stalled; moves on with progress.
  var stallEnd = MonotonicTime.distantFuture
  /// Why it expired; nil if it has not.
  var stop: StopReason?
  var expiredAt = MonotonicTime.distantFuture
  var forceAt = MonotonicTime.distantFuture
  /// Asked for by the host, not yet carried out by a deadline thread.
  var requestedStop: StopReason?
  var requestedForce: StopReason?
  /// It expired and the `expired` event is still to be sent, by whoever takes it from here.
  var unannounced: StopReason?
  /// It was closed by force while its handler ran, and what follows from that is not told yet.
  var isBeingAbandoned = false
  var expirationHandler: taskhost_expiration_handler?
  var expirationContext: UnsafeMutableRawPointer?
  var callback = Callback.none
  var eventDescriptor: Int32 = -1
  var payload: UnsafeMutableRawPointer?
  var requestID: UnsafePointer<CChar>?
  var highestCompleted: UInt64 = 0
  /// The number of the thread that its handler runs on, once it does.
  private var thread: Int32?
  var report = RunReport()
  /// How many lines it may log: a run that talks without end must fill neither the host's log nor its thread.
  var lines = RateAllowance(burst: Limits.logBurst, perSecond: Limits.logRate)
  /// How often its progress is told; what is told last comes with its end.
  var progressReports = RateAllowance(burst: Limits.progressBurst, perSecond: Limits.progressRate)

  init(
    order: RunOrder, kinds: [TaskIdentifier: TaskKind] = [:], stallLimit: Duration?, services: any RunServices,
    sink: @escaping @Sendable (LauncherEvent) -> Void
  ) {
    self.order = order
    self.kinds = kinds
    self.stallLimit = stallLimit
    self.services = services
    self.sink = sink
  }

  deinit {
    if eventDescriptor >= 0 { Glibc.close(eventDescriptor) }
    free(payload)
    free(UnsafeMutablePointer(mutating: requestID))
  }

  var context: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  /// How a run ended, for the sink.
  struct End {
    let ending: RunEnding
    let report: RunReport
    /// A line of the host's at the end of its log, which is to be told.
    let lastLine: LogLine?
    /// Its `expired` event, where that has not been sent yet.
    let unannounced: StopReason?
    /// Closed by force while its handler runs on.
    let isAbandoned: Bool
  }

  /// The handler is about to be called: the clock starts.
  ///
  /// - Returns: When it expires by itself. Nil if it was stopped or taken back while it waited, and is not to be called.
  /// - Parameter thread: The number of the calling thread, which will call it.
  func begin(on thread: Int32) -> MonotonicTime? {
    monitor.locked {
      guard phase == .waiting else { return nil }
      phase = .live
      self.thread = thread
      let now = SystemClock.now
      if let budget = order.contract.budget { budgetEnd = now + budget }
      if let stallLimit { stallEnd = now + stallLimit }
      return deadline
    }
  }

  /// The thread in which its handler is now; nil if it has not been called, or the run has ended.
  var threadOfLiveHandler: Int32? { monitor.locked { phase == .live ? thread : nil } }

  /// What the handler's call took.
  struct Usage {
    var began: WallTime
    var handlerTime: Duration
    var cpuTime: Duration
    /// Bytes; nil means not measured.
    var peakMemory: Int?
  }

  /// The handler returned. Nil if the run had been closed by force before.
  func end(result: taskhost_result, usage: Usage) -> End? {
    monitor.locked {
      guard phase != .closed else { return nil }
      note(usage)
      let decoded = TaskResult(result)
      if case .outOfRange(let value) = decoded {
        let flaw = "the handler returned \(value), which is no taskhost_result"
        report.message = report.message.map { "\($0) (\(flaw))" } ?? flaw
      }
      return closed(.returned(decoded, stop: stop))
    }
  }

  /// The handler ended its thread instead of returning. Nil if the run had been closed by force before.
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

  /// The run cannot begin: it ends as a RETRY that says so. Nil if it had ended before.
  func abandonStart(_ reason: String) -> End? {
    monitor.locked {
      guard phase != .closed else { return nil }
      report.message = reason
      return closed(.returned(.retry, stop: stop))
    }
  }

  /// Takes the run back: its handler is not called. False: it has begun, or ended.
  func withdraw() -> Bool {
    monitor.locked {
      guard phase == .waiting else { return false }
      phase = .closed
      return true
    }
  }

  /// Closes the run although its handler has not returned. Nil if it had ended before.
  ///
  /// Where the handler runs on, ``abandonmentIsTold()`` follows.
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

  /// What follows from the run's abandonment has been told.
  func abandonmentIsTold() {
    monitor.locked {
      isBeingAbandoned = false
      monitor.broadcast()
    }
  }

  /// Waits for ``abandonmentIsTold()``: what follows from the handler's late return must not overtake it.
  func awaitAbandonmentTold() {
    monitor.locked { while isBeingAbandoned { monitor.wait() } }
  }
}
