import HostThreads
import TaskModel
import WorkerLink

/// A run that a worker has, or will have, as the host sees it. Its times are the host's: a worker is not asked what time it is.
struct WorkerRun {
  /// How long after the end of its grace the host waits for the worker's own word of it, which brings the stack of the stuck thread.
  static let patience = Duration.milliseconds(100)

  let order: RunOrder
  /// Whether a worker has been sent it.
  var isSent = false
  /// When its worker was asked for it; nil: it was not. Until the worker has answered, it is not known whether it has begun.
  var askedBack: MonotonicTime?
  /// Since when it counts as running: a worker begins runs in the order they are sent, as many at once as its contract says, so its host
  /// knows of a begin by the end of the run before it, without a message.
  var began: MonotonicTime?
  var beganAt: WallTime?
  /// When it counts as stalled, where its kind does.
  var stallEnd = MonotonicTime.distantFuture
  /// Why it was asked to stop; nil: it was not.
  var stop: StopReason?
  /// When its worker is killed.
  var forceAt = MonotonicTime.distantFuture
  var progress: RunProgress?
  var highestCompleted: UInt64 = 0
  var log: [LogLine] = []
  /// The stack it hangs in.
  var stuck: String?

  init(order: RunOrder) { self.order = order }

  var reference: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  var wireOrder: WireOrder { WireOrder(order) }

  /// It is one of the runs that its worker has begun by now.
  mutating func begin(at now: MonotonicTime) {
    began = now
    beganAt = SystemClock().wallTime
    if let limit = order.contract.kind.stallLimit { stallEnd = now + limit }
    arm()
  }

  /// It was asked to stop: its grace runs from now.
  mutating func expire(_ reason: StopReason, at now: MonotonicTime) {
    guard stop == nil else { return }
    stop = reason
    forceAt = min(forceAt, now + order.contract.grace + Self.patience)
  }

  /// It got further. A run that its kind lets stall may go on from here.
  mutating func advance(_ progress: RunProgress, at now: MonotonicTime) {
    self.progress = progress
    guard progress.completed > highestCompleted else { return }
    highestCompleted = progress.completed
    guard let limit = order.contract.kind.stallLimit, stop == nil else { return }
    stallEnd = now + limit
    arm()
  }

  mutating func note(_ line: LogLine) {
    if log.count == Limits.keptLogLines { log.removeFirst() }
    log.append(line)
  }

  /// Why it is stopped by force when `forceAt` has come.
  var reasonForForce: StopReason { stop ?? (stallEnd < .distantFuture ? .stalled : .budget) }

  /// What is known of it when its worker says no more.
  func report(_ end: WorkerEnd?, isAlone: Bool) -> RunReport {
    var report = RunReport()
    report.progress = progress
    report.log = log
    report.stopReason = stop
    report.began = beganAt
    if let began { report.handlerTime = SystemClock.now - began }
    report.peakMemory = end?.peakMemory
    if isAlone { report.cpuTime = end?.cpuTime }
    return report
  }

  /// When the worker is killed by the clock alone: the budget or the stall limit, the grace, and some patience.
  private mutating func arm() {
    guard stop == nil, let began else { return }
    let budgetEnd = order.contract.budget.map { began + $0 } ?? .distantFuture
    let end = min(budgetEnd, stallEnd)
    forceAt = end == .distantFuture ? .distantFuture : end + order.contract.grace + Self.patience
  }
}
