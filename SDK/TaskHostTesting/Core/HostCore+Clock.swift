import TaskModel
import Glibc
import HostThreads
import PluginRuntime
import TaskHostSDK

/// How time passes: only while a test waits, and only when every handler is asleep on the clock or has returned.
extension HostCore {
  /// Runs the clock's thread until the test host stops: moves time on, calls wake-ups, resumes tests.
  func runClock() {
    monitor.lock()
    clockThread = pthread_self()
    while !isStopped || !actions.isEmpty {
      if step() { continue }
      monitor.wait(until: waiters.isEmpty ? .distantFuture : watchdogDeadline)
      if !waiters.isEmpty, SystemClock.now >= watchdogDeadline, !isReady { giveUp() }
    }
    monitor.unlock()
  }

  var isClockThread: Bool { clockThread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

  /// Takes the next step, with the lock held; false if there is none.
  private func step() -> Bool {
    if perform() { return true }
    if limitRuns() { return true }
    if resumeSatisfied() { return true }
    guard !waiters.isEmpty, isReady else { return false }
    if wakeDue() { return true }
    let limit = self.limit
    if let next = nextEvent, limit.map({ next <= $0 }) ?? true {
      move(to: next)
      return true
    }
    guard let limit, clock.elapsed < limit else { return false }
    move(to: limit)
    return true
  }

  /// Performs the queued actions; false if there are none. Called with the lock held, which it releases meanwhile.
  private func perform() -> Bool {
    guard !actions.isEmpty else { return false }
    let actions = actions
    self.actions = []
    actionsInProgress += 1
    monitor.unlock()
    for action in actions { action() }
    monitor.lock()
    actionsInProgress -= 1
    return true
  }

  private func move(to moment: Duration) {
    guard moment > clock.elapsed else { return }
    clock.move(to: moment)
    lastMovement = SystemClock.now
  }

  private var isReady: Bool {
    actionsInProgress == 0 && holds == 0 && !runs.contains { $0.isUndecided || !$0.hasBegun }
      && (isSettled || waiters.contains(where: \.ignoresHandlers))
  }

  /// Whether every handler sleeps or is done and, if there is one, something will wake one.
  var isSettled: Bool {
    guard !runs.contains(where: \.holdsClock) else { return false }
    return runs.isEmpty || wakes.contains { $0.wake.at != nil } || runs.contains(where: \.ignoresExpiration)
  }

  /// The latest moment that a waiting test allows; `nil`: any.
  private var limit: Duration? {
    var limit = Duration.zero
    for waiter in waiters {
      switch waiter.target {
      case .moment(let moment), .runEnd(_, by: let moment?): limit = max(limit, moment)
      case .end, .report, .runEnd(_, by: nil): return nil
      }
    }
    return limit
  }

  private var nextEvent: Duration? {
    var moments = wakes.compactMap(\.wake.at)
    for run in runs {
      if let armed = run.armed, armed.time != .distantFuture { moments.append(.nanoseconds(armed.time.nanoseconds)) }
      if let time = run.drainTime { moments.append(time) }
      moments += run.interruptions.compactMap { run.moment(of: $0) }
    }
    return moments.min().map { max($0, clock.elapsed) }
  }

  /// Whether something is due that has not been done.
  var hasDueEvent: Bool { nextEvent.map { $0 <= clock.elapsed } ?? false }

  /// Performs due interruptions and checks, whatever the handlers do; false if there are none.
  private func limitRuns() -> Bool {
    var hasActed = false
    for run in runs where run.isHandedOut {
      for interruption in run.takeInterruptions(until: clock.elapsed) {
        hasActed = true
        if !run.isOver { interrupt(run, interruption.kind) }
      }
      if drainIfDue(run) { hasActed = true }
      guard !run.isOver, let armed = run.armed, armed.time <= clock.monotonicTime else { continue }
      hasActed = true
      check(run, armed.check)
    }
    return hasActed
  }

  /// Checks a run on its own thread, because the check may stay in the expiration handler.
  private func check(_ run: RunState, _ check: @escaping @Sendable () -> Void) {
    run.armed = nil
    run.checks += 1
    let number = newNumber()
    run.undecided.insert(number)
    let work: @Sendable () -> Void = { [self] in
      let thread = pthread_self()
      monitor.locked { run.checkingThreads.append(thread) }
      check()
      monitor.locked {
        run.checkingThreads.removeAll { pthread_equal($0, thread) != 0 }
        run.checks -= 1
        run.undecided.remove(number)
        endWaits(of: run)
        monitor.broadcast()
      }
    }
    do { try HostThread.start("expiration", work) } catch { actions.append(work) }
  }

  /// Ends the sleeps that are due; false if there are none.
  private func wakeDue() -> Bool {
    let now = clock.elapsed
    let due = wakes.filter { $0.wake.at.map { $0 <= now } ?? false }.sorted { ($0.wake.at ?? .zero, $0.id) < ($1.wake.at ?? .zero, $1.id) }
    wakes.removeAll { entry in due.contains { $0.id == entry.id } }
    for (_, wake) in due { end(wake) }
    return !due.isEmpty
  }

  // MARK: Sleeping

  /// Sleeps on the calling thread, with the lock held, which it releases meanwhile; `end` nil: until a check of the run ends.
  func sleep(_ run: RunState, until end: Duration?, wakesAtExpiration: Bool) {
    if let end, end <= clock.elapsed { return }
    if wakesAtExpiration, end != nil, run.isOver || run.report.isExpired { return }
    if end == nil, run.checks == 0 { return }
    let sleeper = Sleeper(run.role, wakesAtExpiration: wakesAtExpiration && end != nil)
    count(sleeper, in: run, isAsleep: true)
    wakes.append((newNumber(), Wake(run: run, at: end, action: .thread(sleeper))))
    monitor.broadcast()
    while sleeper.isAsleep { monitor.wait() }
  }

  /// Adds a sleep of one of the run's Swift tasks.
  func addCall(
    _ run: RunState, in duration: Duration, _ wakeUp: @escaping VirtualTimeFunctions.WakeUp, _ context: UnsafeMutableRawPointer?
  ) throws(CallFailure) {
    let isLive = monitor.locked {
      guard !run.isOver else { return false }
      wakes.append((newNumber(), Wake(run: run, at: clock.elapsed + duration, action: .call(wakeUp, context))))
      monitor.broadcast()
      return true
    }
    guard isLive else { throw .stale }
  }

  /// Withdraws a wake-up of the SDK; false if it no longer exists.
  func withdrawCall(_ run: RunState, _ context: UnsafeMutableRawPointer?) -> Bool {
    monitor.locked {
      let index = wakes.firstIndex { entry in
        if case .call(_, context) = entry.wake.action, entry.wake.run === run { true } else { false }
      }
      guard let index else { return false }
      wakes.remove(at: index)
      return true
    }
  }

  /// Ends a sleep, with the lock held. The sleeper counts as awake at once, although its thread may not have noticed.
  private func end(_ wake: Wake) {
    switch wake.action {
    case .thread(let sleeper):
      sleeper.isAsleep = false
      count(sleeper, in: wake.run, isAsleep: false)
      monitor.broadcast()
    case .call(let wakeUp, let context):
      // reason: the SDK's reference to its sleep, which only this call takes
      nonisolated(unsafe) let context = context
      actions.append { wakeUp(context) }
      monitor.broadcast()
    }
  }

  /// Ends sleeps of a run, with the lock held; those of Swift tasks only once the run is over, and not if it was killed.
  func endSleeps(of run: RunState, where isMeant: (Sleeper) -> Bool) {
    endSleeps { wake in
      guard wake.run === run else { return false }
      if case .thread(let sleeper) = wake.action { return isMeant(sleeper) }
      return run.isOver
    }
  }

  /// Ends the waits for a check of the run, with the lock held.
  private func endWaits(of run: RunState) { endSleeps { $0.run === run && $0.at == nil } }

  private func endSleeps(where isMeant: (Wake) -> Bool) {
    let ended = wakes.filter { isMeant($0.wake) }
    wakes.removeAll { entry in ended.contains { $0.id == entry.id } }
    for (_, wake) in ended {
      if case .call = wake.action, wake.run.isKilled { continue }
      end(wake)
    }
  }

  private func count(_ sleeper: Sleeper, in run: RunState, isAsleep: Bool) {
    switch sleeper.role {
    case .handler: run.isWorking = !isAsleep
    case .check: run.sleepingChecks += isAsleep ? 1 : -1
    case .other: run.otherSleepers += isAsleep ? 1 : -1
    }
  }
}
