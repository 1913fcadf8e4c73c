import TaskModel
import WorkerLink

/// A run that a worker has, or will have, as the host sees it. Its times are the host's: a worker is not asked what time it is.
struct WorkerRun {
  /// How long after the end of its grace the host waits for the worker's own word of it, which brings the stack of the stuck thread.
  static let patience = Duration.milliseconds(100)
  /// By how much the host's measure of a handler's time may be above the worker's. The host counts from when it sent the run, or knew of a
  /// free place for it, to when it read of the end: on a machine that is not overloaded that is some milliseconds more, however long the run is.
  static let lag = Duration.milliseconds(100)

  let order: RunOrder
  /// When a worker was sent it, on the clock of budgets and on the calendar; nil: none was.
  private(set) var sentAt: (monotonic: MonotonicTime, wall: WallTime)?
  /// How many runs had begun in its worker when that was sent it.
  private(set) var begunBefore: UInt64 = 0
  /// When its worker was asked for it; nil: it was not. Until the worker has answered, it is not known whether it has begun.
  var askedBack: MonotonicTime?
  /// Since when it counts as running: a worker begins runs in the order they are sent, as many at once as its contract says, so its host
  /// knows of a begin by the end of the run before it, without a message.
  private(set) var began: MonotonicTime?
  private(set) var beganAt: WallTime?
  /// Since when its budget is spent: since it began, or since a debugger let go of it.
  private var limitsBegin: MonotonicTime?
  /// Its begin counts, and its worker has not told of it.
  private(set) var awaitsBegin: Bool
  /// When it counts as stalled; nil: it has not begun, or its kind cannot stall.
  private var stallEnd: MonotonicTime?
  /// Why it was asked to stop; nil: it was not.
  private(set) var stop: StopReason?
  /// Whether its worker has said that it was asked to stop.
  private(set) var isExpirationTold = false
  /// When its worker is killed if it has not ended by then, and for which reason; nil: its time does not run, or has no end.
  private(set) var force: (end: MonotonicTime, reason: StopReason)?
  private(set) var progress: RunProgress?
  private(set) var work: RunWork?
  var highestCompleted: UInt64 = 0
  private(set) var log: [LogLine] = []
  /// The stack it hangs in.
  var stuck: String?
  /// Lines, and reports of progress and of work, that its worker sent.
  private var lines = 0
  private var progressReports = 0
  private var workReports = 0

  init(order: RunOrder) {
    self.order = order
    awaitsBegin = order.tellsBegin
  }

  var reference: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  var wireOrder: WireOrder { WireOrder(order) }

  /// Whether it was sent to a worker.
  var isSent: Bool { sentAt != nil }

  mutating func send(at now: Moment) {
    sentAt = (now.time, now.calendar)
    begunBefore = now.begunCount
  }

  /// It counts as running from now.
  mutating func begin(at now: Moment) {
    began = now.time
    beganAt = now.calendar
    beginLimits(at: now.time)
    arm()
  }

  /// Its budget and stall limit begin anew, or its grace if it was asked to stop.
  mutating func beginAnew(at now: MonotonicTime) {
    guard began != nil else { return }
    beginLimits(at: now)
    if let stop { force = (now + order.contract.grace + Self.patience, stop) } else { arm() }
  }

  private mutating func beginLimits(at now: MonotonicTime) {
    limitsBegin = now
    if let limit = order.contract.kind.stallLimit { stallEnd = now + limit }
  }

  /// It was asked to stop: its grace begins now.
  mutating func expire(_ reason: StopReason, at now: MonotonicTime) {
    guard stop == nil else { return }
    stop = reason
    force = (min(force?.end ?? .distantFuture, now + order.contract.grace + Self.patience), reason)
  }

  /// Records progress, which postpones a stall.
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

  // MARK: Messages of its worker

  /// The worker reports that its handler was called.
  mutating func hearBegin() { awaitsBegin = false }

  /// A line that the handler logged.
  mutating func hear(_ line: LogLine, at now: MonotonicTime) throws(WorkerConduct.Violation) {
    lines += 1
    guard lines <= WorkerConduct.most(Limits.logBurst, Limits.logRate, in: age(at: now)) else {
      throw WorkerConduct.Violation(what: "it logged more in a run than it may")
    }
    note(line)
  }

  /// The handler reports progress.
  mutating func hear(_ progress: RunProgress, at now: MonotonicTime) throws(WorkerConduct.Violation) {
    progressReports += 1
    guard progressReports <= WorkerConduct.most(Limits.progressBurst, Limits.progressRate, in: age(at: now)) else {
      throw WorkerConduct.Violation(what: "it reported progress more often than it may")
    }
    advance(progress, at: now)
  }

  /// The handler has counted.
  mutating func hear(_ work: RunWork, at now: MonotonicTime) throws(WorkerConduct.Violation) {
    workReports += 1
    guard workReports <= WorkerConduct.most(1, Int(.seconds(1) / Limits.workInterval), in: age(at: now)) else {
      throw WorkerConduct.Violation(what: "it reported its work more often than it may")
    }
    self.work = work
  }

  /// The worker reports that it was asked to stop.
  ///
  /// - Returns: Whether this is the first report.
  mutating func hearExpiration(_ reason: StopReason, at now: MonotonicTime) throws(WorkerConduct.Violation) -> Bool {
    try check(reason, at: now)
    expire(reason, at: now)
    defer { isExpirationTold = true }
    return !isExpirationTold
  }

  /// The worker reports that its grace is over. If the grace is short, the report of the expiration may still be missing.
  func checkStuck(at now: MonotonicTime) throws(WorkerConduct.Violation) {
    guard stop != nil || isSpent(.budget, at: now) || isSpent(.stalled, at: now) else {
      throw WorkerConduct.Violation(what: "it gave up a run that was not asked to stop")
    }
  }

  /// The report of its end, with times limited to what is possible. The rest is the plugin's own.
  func report(of ending: WireEnding, at now: Moment) throws(WorkerConduct.Violation) -> RunReport {
    var report = ending.report
    let reason: StopReason? =
      switch ending.ending {
      case .returned(_, let stop): stop
      case .forced(let reason): reason
      case .crashed, .lost: nil
      }
    guard report.stopReason == reason else { throw WorkerConduct.Violation(what: "it gave two reasons for one end of a run") }
    if let reason {
      try check(reason, at: now.time)
      report.stopStage = .asked
    }
    report.log = log
    if report.progress == nil { report.progress = progress }
    if report.work == nil { report.work = work }
    report.handlerTime = handlerTime(said: report.handlerTime, at: now.time)
    let earliest = sentAt?.wall ?? WallTime.calendar.lowerBound
    report.began = report.began.map { max(earliest, min($0, now.calendar)) }
    // A run whose begin counts has begun if its handler has returned, whatever its worker reports.
    if awaitsBegin, report.began == nil { report.began = now.calendar }
    return report
  }

  /// The duration of the handler's call, for its record and its quota: the worker's number, within the limits that the host has measured.
  ///
  /// - Parameter said: The worker's number; nil if it never called the handler.
  private func handlerTime(said: Duration?, at now: MonotonicTime) -> Duration? {
    let said = said.map { min($0, age(at: now)) }
    guard let began else { return said }
    let least = now - began - Self.lag
    return least > (said ?? .zero) ? least : said
  }

  /// A worker stops a run on its own when its time is up, and for no other reason.
  private func check(_ reason: StopReason, at now: MonotonicTime) throws(WorkerConduct.Violation) {
    guard stop == reason || isSpent(reason, at: now) else {
      throw WorkerConduct.Violation(what: "it stopped a run for a reason that it was not given (\(reason.rawValue))")
    }
  }

  /// Whether the time limit behind a reason may be over. A worker begins a run after the host sent it.
  private func isSpent(_ reason: StopReason, at now: MonotonicTime) -> Bool {
    switch reason {
    case .budget: order.contract.budget.map { age(at: now) >= $0 } ?? false
    case .stalled: order.contract.kind.stallLimit.map { age(at: now) >= $0 } ?? false
    case .cancelled, .conditions, .draining, .replaced: false
    }
  }

  /// How long a worker has had it.
  private func age(at now: MonotonicTime) -> Duration { sentAt.map { now - $0.monotonic } ?? .zero }

  /// The reason if it is stopped by force.
  var reasonForForce: StopReason { stop ?? force?.reason ?? .budget }

  /// The report of a run whose worker is gone.
  func report(_ end: WorkerEnd?, isAlone: Bool, at now: MonotonicTime) -> RunReport {
    var report = RunReport()
    report.progress = progress
    report.work = work
    report.log = log
    report.stopReason = stop
    report.began = beganAt
    if let began { report.handlerTime = now - began }
    report.peakMemory = end?.peakMemory
    if isAlone { report.cpuTime = end?.cpuTime }
    return report
  }

  /// Sets when the worker is killed without an expiration: after the budget or the stall limit, the grace, and some patience.
  private mutating func arm() {
    guard stop == nil, let limitsBegin else { return }
    let ends = [(order.contract.budget.map { limitsBegin + $0 }, StopReason.budget), (stallEnd, .stalled)]
    let forced = ends.compactMap { end, reason in end.map { (end: $0 + order.contract.grace + Self.patience, reason: reason) } }
    force = forced.min { $0.end < $1.end }
  }
}
