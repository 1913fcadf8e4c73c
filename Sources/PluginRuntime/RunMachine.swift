import CTaskHost
import HostThreads
import TaskModel

/// The state machine of one run, as a value: it takes events and returns effects.
///
/// It reads no clock and has no side effects. ``LiveRun`` keeps it inside a lock; ``ThreadLauncher`` performs its effects.
struct RunMachine: Sendable {
  enum Phase: Hashable {
    /// It waits for a thread.
    case waiting
    /// It expired while it waited for a thread. Its handler is called anyway.
    case waitingExpired(Expiration)
    /// Its handler runs and has time left.
    case live(budgetEnd: MonotonicTime, stallEnd: MonotonicTime)
    /// Its handler runs and has been asked to return.
    case expired(Expiration)
    /// It was closed by force, and its handler still ran.
    case abandoned(Abandonment)
    /// It is over. If it expired and returned, its submissions are accepted until `graceEnd`.
    case ended(graceEnd: MonotonicTime?)
  }

  struct Expiration: Hashable {
    let at: MonotonicTime
    /// When the run is closed by force.
    let graceEnd: MonotonicTime
    /// Whether the `expired` event was sent. A thread that calls the expiration handler leaves that to another one.
    var isTold: Bool
  }

  enum Abandonment: Hashable {
    /// The events of its end are not sent yet.
    case untold
    case told
    /// Its handler has returned, but the events of its end are not sent yet: the events of the return must not overtake them.
    case returnedUntold
  }

  /// The only call of the expiration handler.
  enum ExpirationHandler {
    case none
    case set(ExpirationCall)
    case running(on: UInt)
    case returned
  }

  enum Event: Sendable {
    /// A thread is ready for the handler. If there are no effects, the handler must not be called.
    case begin(thread: Int32)
    /// The host withdraws it. If there are no effects, its handler was called already, or it is over.
    case withdraw
    /// It cannot begin.
    case refuse(String)
    /// The host wants it to expire at the next check of a deadline thread.
    case expire(StopReason)
    /// The host wants it closed by force at the next check of a deadline thread.
    case force(StopReason)
    /// Its budget, stall limit and grace are suspended, or begin anew.
    case suspendBudget(Bool)
    /// A deadline thread checks it, because a deadline may have come.
    case look(on: UInt)
    /// The expiration handler returned.
    case expirationHandlerReturned
    /// The expiration handler of an assertion returned.
    case assertionHandlerReturned(taskhost_assertion)
    /// It is closed by force. `trouble`: where its handler hangs.
    case close(StopReason, trouble: String?)
    /// The events of its abandonment were sent.
    case abandonmentTold
    /// The handler returned.
    case returned(TaskResult, RunUsage)
    /// The handler ended its thread instead of returning.
    case vanished(RunUsage)
  }

  /// The effects, to be performed in order.
  enum Effect: Sendable {
    /// Wake the threads that sleep, poll or wait in a call of the run. Done before the lock is released.
    case rouse
    /// Have a deadline thread check it at that time at the latest.
    case arm(at: MonotonicTime)
    case tell(LauncherEvent)
    /// ``Event/expirationHandlerReturned`` follows, if it returns.
    case callExpirationHandler(ExpirationCall, StopReason)
    /// ``Event/assertionHandlerReturned(_:)`` follows, if it returns.
    case callAssertionHandler(taskhost_assertion, AssertionCall)
    /// Find out where the handler hangs; ``Event/close(_:trouble:)`` follows.
    case force(StopReason)
    /// Forget the run: it is over.
    case leave
    /// Forget the run, whose handler still runs, and suspend its plugin.
    case suspend
    /// Its thread serves no other run: let a new one take its place.
    case replaceThread
    /// Send ``Event/abandonmentTold``.
    case confirmTold
    /// The handler of an abandoned run returned: resume its plugin if it was the last.
    case resume
  }

  let order: RunOrder
  /// It expires this long after its `completed` last increased; nil for no stall limit.
  let stallLimit: Duration?
  /// Whether excessive log lines and progress reports are dropped.
  let limitsReports: Bool
  private(set) var phase = Phase.waiting
  /// Whether no deadline ends it: a debugger holds its process.
  private var isSuspended: Bool
  /// The host's request that no deadline thread has acted on.
  private var askedToExpire: StopReason?
  private var askedToClose: StopReason?
  var expirationHandler = ExpirationHandler.none
  var assertions = RunAssertions()
  /// The number of its handler's thread.
  private var thread: Int32 = 0
  var report = RunReport()
  /// Limits log lines: a run that logs endlessly must not fill the host's log or occupy its thread.
  private var lines = RateAllowance(burst: Limits.logBurst, perSecond: Limits.logRate)
  private var lastDroppedAt = WallTime(unixMilliseconds: 0)
  /// Limits progress reports; the last progress comes with its end.
  private var progressReports = RateAllowance(burst: Limits.progressBurst, perSecond: Limits.progressRate)
  private var highestCompleted: UInt64 = 0
  /// When its work was last reported; before the first report, when its handler began.
  private var workToldAt = MonotonicTime.distantFuture

  init(_ order: RunOrder, stallLimit: Duration?, limitsReports: Bool = true, isSuspended: Bool = false) {
    self.order = order
    self.stallLimit = stallLimit
    self.limitsReports = limitsReports
    self.isSuspended = isSuspended
  }

  /// Applies an event and returns the effects. Ignores events that cannot happen in the phase.
  mutating func handle(_ event: Event, at now: MonotonicTime) -> [Effect] {
    switch event {
    case .begin(let thread): return begin(on: thread, at: now)
    case .withdraw:
      guard isWaiting else { return [] }
      phase = .ended(graceEnd: nil)
      return [.leave, .tell(.withdrawn(order.run))]
    case .refuse(let reason):
      guard isWaiting else { return [] }
      report.message = reason
      return [.rouse, .leave] + end(.returned(.retry, stop: report.stopReason))
    case .expire(let reason):
      if isOver { return [] }
      askedToExpire = askedToExpire ?? reason
      return [.arm(at: now)]
    case .force(let reason):
      if isOver { return [] }
      askedToClose = askedToClose ?? reason
      return [.arm(at: now)]
    case .suspendBudget(let isSuspended): return suspendBudget(isSuspended, at: now)
    case .look(let thread): return expireAssertion(on: thread, at: now) ?? assertionWake + look(on: thread, at: now)
    case .expirationHandlerReturned:
      guard case .running = expirationHandler else { break }
      expirationHandler = .returned
      return [.rouse]
    case .assertionHandlerReturned(let assertion):
      assertions.returned(assertion)
      return [.rouse]
    case .close(let reason, let trouble): return close(reason, trouble)
    case .abandonmentTold:
      if phase == .abandoned(.returnedUntold) { return endAbandoned() }
      if phase == .abandoned(.untold) { phase = .abandoned(.told) }
    case .returned(let result, let usage):
      guard isLive else { return returnedLate() }
      if case .outOfRange(let value) = result {
        let flaw = "the handler returned \(value), which is not a taskhost_result"
        report.message = report.message.map { "\($0) (\(flaw))" } ?? flaw
      }
      return [.rouse, .leave] + end(.returned(result, stop: report.stopReason), usage)
    case .vanished(let usage):
      guard isLive else { return returnedLate() }
      report.message = "the handler ended its thread (pthread_exit) instead of returning"
      return [.rouse, .replaceThread, .leave] + end(.returned(.retry, stop: report.stopReason), usage)
    }
    return []
  }

  // MARK: Begin and expiration

  private mutating func begin(on thread: Int32, at now: MonotonicTime) -> [Effect] {
    let next: MonotonicTime
    switch phase {
    case .waiting:
      next = beginLimits(at: now)
    case .waitingExpired(let expiration):
      phase = .expired(expiration)
      next = expiration.graceEnd
    case .live, .expired, .abandoned, .ended: return []
    }
    self.thread = thread
    workToldAt = now
    return (order.isAhead || order.tellsBegin ? [.tell(.began(order.run))] : []) + [.arm(at: next)]
  }

  private mutating func look(on thread: UInt, at now: MonotonicTime) -> [Effect] {
    if isOver { return [] }
    if let askedToClose { return [.force(report.stopReason ?? askedToClose)] }
    switch phase {
    case .waiting, .live:
      if let askedToExpire { return expire(askedToExpire, on: thread, at: now) }
      guard case .live(let budgetEnd, let stallEnd) = phase else { return [] }
      if isSuspended { return [] }
      guard now >= min(budgetEnd, stallEnd) else { return [.arm(at: min(budgetEnd, stallEnd))] }
      return expire(now >= budgetEnd ? .budget : .stalled, on: thread, at: now)
    case .waitingExpired(var expiration), .expired(var expiration):
      guard let reason = report.stopReason else { return [] }
      if !isSuspended, now >= expiration.graceEnd { return [.force(reason)] }
      if expiration.isTold { return isSuspended ? [] : [.arm(at: expiration.graceEnd)] }
      expiration.isTold = true
      expired(expiration)
      return [.arm(at: expiration.graceEnd), .tell(.expired(reference, reason))]
    case .abandoned, .ended: return []
    }
  }

  /// It has its whole budget and stall limit before it.
  ///
  /// - Returns: When the first of them is over.
  private mutating func beginLimits(at now: MonotonicTime) -> MonotonicTime {
    let budgetEnd = order.contract.budget.map { now + $0 } ?? .distantFuture
    let stallEnd = stallLimit.map { now + $0 } ?? .distantFuture
    phase = .live(budgetEnd: budgetEnd, stallEnd: stallEnd)
    return min(budgetEnd, stallEnd)
  }

  /// Afterwards it has its whole budget or grace before it: nobody measured how long a debugger held it.
  private mutating func suspendBudget(_ isSuspended: Bool, at now: MonotonicTime) -> [Effect] {
    self.isSuspended = isSuspended
    guard !isSuspended else { return [] }
    switch phase {
    case .live: return [.arm(at: beginLimits(at: now))]
    case .waitingExpired(let old), .expired(let old):
      let expiration = Expiration(at: old.at, graceEnd: now + order.contract.grace, isTold: old.isTold)
      expired(expiration)
      return [.arm(at: expiration.graceEnd)]
    case .waiting, .abandoned, .ended: return []
    }
  }

  private mutating func expire(_ reason: StopReason, on thread: UInt, at now: MonotonicTime) -> [Effect] {
    report.stopReason = reason
    var expiration = Expiration(at: now, graceEnd: now + order.contract.grace, isTold: true)
    let effects: [Effect]
    if case .set(let call) = expirationHandler {
      expirationHandler = .running(on: thread)
      expiration.isTold = false
      // The handler does not wait for the sink and need not return: another deadline thread sends the event and arms the forced stop.
      effects = [.rouse, .arm(at: now), .callExpirationHandler(call, reason)]
    } else {
      effects = [.rouse, .arm(at: expiration.graceEnd), .tell(.expired(reference, reason))]
    }
    expired(expiration)
    return effects
  }

  /// The call of the expiration handler of an assertion that is due; nil if none is. Another deadline thread looks at the rest.
  private mutating func expireAssertion(on thread: UInt, at now: MonotonicTime) -> [Effect]? {
    guard isLive, let (assertion, call) = assertions.expire(at: now, on: thread) else { return nil }
    return [.arm(at: now), .callAssertionHandler(assertion, call)]
  }

  private var assertionWake: [Effect] { isLive ? assertions.nextDeadline.map { [.arm(at: $0)] } ?? [] : [] }

  private mutating func expired(_ expiration: Expiration) { phase = isWaiting ? .waitingExpired(expiration) : .expired(expiration) }

  // MARK: Its end

  private mutating func close(_ reason: StopReason, _ trouble: String?) -> [Effect] {
    if isOver { return [] }
    let isAbandoned = isLive
    report.stopReason = report.stopReason ?? reason
    report.forced = true
    report.trouble = trouble
    let told = end(.forced(reason), isAbandoned: isAbandoned)
    return isAbandoned ? [.rouse, .suspend, .replaceThread] + told + [.confirmTold] : [.rouse, .leave] + told
  }

  /// Its handler returned, or ended its thread, after it was closed by force.
  private mutating func returnedLate() -> [Effect] {
    if phase == .abandoned(.told) { return endAbandoned() }
    if phase == .abandoned(.untold) { phase = .abandoned(.returnedUntold) }
    return []
  }

  private mutating func endAbandoned() -> [Effect] {
    phase = .ended(graceEnd: nil)
    return [.resume]
  }

  /// The events of its end.
  private mutating func end(_ ending: RunEnding, _ usage: RunUsage? = nil, isAbandoned: Bool = false) -> [Effect] {
    if let usage {
      report.began = usage.began
      report.handlerTime = usage.handlerTime
      report.cpuTime = usage.cpuTime
      report.peakMemory = usage.peakMemory
    }
    if report.stopReason != nil { report.stopStage = isAbandoned ? .abandoned : .asked }
    var told: [Effect] = []
    let expiration = expiration
    if let reason = report.stopReason, expiration?.isTold == false { told.append(.tell(.expired(reference, reason))) }
    if let line = takeDropped() { told.append(.tell(.log(reference, line))) }
    phase = isAbandoned ? .abandoned(.untold) : .ended(graceEnd: report.forced ? nil : expiration?.graceEnd)
    return told + [.tell(.ended(order.run, ending, report))]
  }

  // MARK: Queries

  var reference: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  private var isWaiting: Bool {
    switch phase {
    case .waiting, .waitingExpired: true
    case .live, .expired, .abandoned, .ended: false
    }
  }

  /// Whether its handler runs, and its plugin's calls are served.
  var isLive: Bool {
    switch phase {
    case .live, .expired: true
    case .waiting, .waitingExpired, .abandoned, .ended: false
    }
  }

  private var isOver: Bool { !isWaiting && !isLive }

  private var expiration: Expiration? {
    switch phase {
    case .waitingExpired(let expiration), .expired(let expiration): expiration
    case .waiting, .live, .abandoned, .ended: nil
    }
  }

  /// The thread of its handler; nil if it was not called yet, or the run is over.
  var threadOfLiveHandler: Int32? { isLive ? thread : nil }

  /// When the grace ends of a run that expired and returned; nil for others.
  var endOfGrace: MonotonicTime? { if case .ended(let end) = phase { end } else { nil } }

  /// Whole milliseconds until expiration: positive before the run has expired, 0 or negative afterwards.
  func remainingMilliseconds(at now: MonotonicTime) throws(CallFailure) -> Int64 {
    switch phase {
    case .live(let budgetEnd, let stallEnd): return max(1, (min(budgetEnd, stallEnd) - now).wholeMilliseconds)
    case .expired(let expiration): return min(0, (expiration.at - now).wholeMilliseconds)
    case .waiting, .waitingExpired, .abandoned, .ended: throw .stale
    }
  }

  /// Whole milliseconds until the forced stop; before expiration, the whole grace.
  func graceMilliseconds(at now: MonotonicTime) throws(CallFailure) -> Int64 {
    guard isLive else { throw .stale }
    return max(0, (expiration.map { $0.graceEnd - now } ?? order.contract.grace).wholeMilliseconds)
  }

  // MARK: Its plugin's calls

  /// Records progress, which postpones a stall. Reports it unless the rate limit is reached. Its unit and message are given apart.
  mutating func advance(
    _ progress: RunProgress, unit: ProgressDetail = .kept, message: ProgressDetail = .kept, at now: MonotonicTime
  ) throws(CallFailure) -> [Effect] {
    guard isLive else { throw .stale }
    var progress = progress
    progress.unit = unit.applied(to: report.progress?.unit)
    progress.message = message.applied(to: report.progress?.message)
    report.progress = progress
    if progress.completed > highestCompleted {
      highestCompleted = progress.completed
      if let stallLimit, case .live(let budgetEnd, _) = phase { phase = .live(budgetEnd: budgetEnd, stallEnd: now + stallLimit) }
    }
    return !limitsReports || progressReports.pass(at: now) ? [.tell(.progress(reference, progress))] : []
  }

  /// Adds to its counts. Reports them unless it did so just before; the last ones come with its end.
  mutating func add(_ work: RunWork, at now: MonotonicTime) throws(CallFailure) -> [Effect] {
    guard isLive else { throw .stale }
    let sum = (report.work ?? RunWork()).adding(work)
    report.work = sum
    guard !limitsReports || now - workToldAt >= Limits.workInterval else { return [] }
    workToldAt = now
    return [.tell(.work(reference, sum))]
  }

  /// Keeps a span, which comes with its end.
  mutating func add(_ span: RunSpan) throws(CallFailure) {
    guard isLive else { throw .stale }
    guard report.spans.count < Limits.runSpans else { throw CallFailure(.limit, "the run has \(Limits.runSpans) spans, the most") }
    report.spans.append(span)
  }

  /// Keeps the line with the run's last lines and reports it, after a line about dropped lines; drops it if the rate limit is reached.
  mutating func log(_ line: LogLine, at now: MonotonicTime) throws(CallFailure) -> [Effect] {
    guard isLive else { throw .stale }
    guard !limitsReports || lines.pass(at: now) else {
      lastDroppedAt = line.time
      return []
    }
    let dropped = takeDropped()
    keep(line)
    return [dropped, line].compactMap(\.self).map { .tell(.log(reference, $0)) }
  }

  private mutating func keep(_ line: LogLine) {
    if report.log.count == Limits.keptLogLines { report.log.removeFirst() }
    report.log.append(line)
  }

  /// A line about dropped lines, which is kept; nil if none were dropped.
  private mutating func takeDropped() -> LogLine? {
    let dropped = lines.takeRefused()
    guard dropped > 0 else { return nil }
    let line = LogLine(time: lastDroppedAt, level: .warning, message: "\(dropped) log lines were dropped: too many at once")
    keep(line)
    return line
  }

  mutating func set(_ call: ExpirationCall) throws(CallFailure) {
    guard isLive else { throw .stale }
    guard report.stopReason == nil else { throw CallFailure(.expired, "the run has expired: the handler will not be called") }
    expirationHandler = .set(call)
  }

  /// Clears the expiration handler, also of a run that is over. The caller has waited for a call on another thread to return.
  mutating func clearExpirationHandler() throws(CallFailure) {
    var wasCalled = false
    switch expirationHandler {
    case .none, .set: expirationHandler = .none
    case .running, .returned: wasCalled = true
    }
    guard isLive else { throw .stale }
    if wasCalled { throw CallFailure(.expired, "the expiration handler was called") }
  }

  /// Whether another thread is in the expiration handler.
  func isExpirationHandlerRunning(apartFrom thread: UInt) -> Bool {
    if case .running(let other) = expirationHandler { other != thread } else { false }
  }
}

/// The call of an expiration handler.
struct ExpirationCall: @unchecked Sendable {  // reason: two addresses that the plugin promises to keep valid
  let handler: taskhost_expiration_handler
  let context: UnsafeMutableRawPointer?
}
