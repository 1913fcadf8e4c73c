import TaskHostSDK

/// How time passes: only while a test waits, and only when every handler is asleep on the clock or has returned.
extension HostCore {
  /// The clock's thread: moves time on, calls wake-ups, resumes tests. Ends when the test host is stopped.
  func runClock() {
    monitor.lock()
    while !isStopped || !actions.isEmpty {
      if step() { continue }
      let deadline = waiters.isEmpty ? nil : watchdogDeadline
      monitor.waitAsClock(until: deadline)
      if !waiters.isEmpty, Monitor.realNanoseconds >= watchdogDeadline, !isReady { giveUp() }
    }
    monitor.unlock()
  }

  /// With the lock held: does the next thing there is to do; false when there is none.
  private func step() -> Bool {
    if perform() { return true }
    if resumeSatisfied() { return true }
    guard !waiters.isEmpty, isReady else { return false }
    let limit = self.limit
    if let next = nextEvent, limit.map({ next <= $0 }) ?? true {
      move(to: next)
      fire()
      return true
    }
    guard let limit, now < limit else { return false }
    move(to: limit)
    return true
  }

  /// With the lock held: performs what was put off, without it; false when there was nothing.
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
    guard moment > now else { return }
    now = moment
    lastMovement = Monitor.realNanoseconds
  }

  private var isReady: Bool { actionsInProgress == 0 && holds == 0 && (isSettled || waiters.contains(where: \.ignoresHandlers)) }

  /// Every handler is asleep or done, and, if there is any, something will wake one.
  var isSettled: Bool {
    guard !runs.contains(where: \.holdsClock) else { return false }
    return runs.isEmpty || !wakes.isEmpty || runs.contains(where: \.ignoresExpiration)
  }

  /// How far time may go for those who wait; `nil`: any distance.
  private var limit: Duration? {
    var limit = Duration.zero
    for waiter in waiters {
      guard case .moment(let moment) = waiter.target else { return nil }
      limit = max(limit, moment)
    }
    return limit
  }

  /// The next moment at which something happens.
  private var nextEvent: Duration? {
    var moments = wakes.map(\.wake.at)
    for run in runs {
      if let moment = run.forceAt ?? run.deadline { moments.append(moment) }
      moments += run.interruptions.compactMap { run.moment(of: $0) }
    }
    return moments.min().map { max($0, now) }
  }

  /// Whether something is to happen by now that has not been done.
  var hasDueEvent: Bool { nextEvent.map { $0 <= now } ?? false }

  /// Does what is due now: what limits the runs first, then what wakes them.
  private func fire() {
    for run in runs {
      for interruption in run.takeInterruptions(until: now) { interrupt(run, interruption.kind) }
      if run.phase == .live, run.forceAt == nil, let deadline = run.deadline, deadline <= now {
        expire(run, run.stallEnd == deadline ? .stalled : .budget)
      }
      if run.phase == .live, let forceAt = run.forceAt, forceAt <= now { force(run) }
    }
    let due = wakes.filter { $0.wake.at <= now }.sorted { ($0.wake.at, $0.id) < ($1.wake.at, $1.id) }
    wakes.removeAll { $0.wake.at <= now }
    for (_, wake) in due { end(wake, as: .woken) }
  }

  // MARK: Sleeping

  /// With the lock held.
  func addWake(_ run: RunState, at moment: Duration, _ action: Wake.Action) {
    wakes.append((newNumber(), Wake(run: run, at: moment, action: action)))
    monitor.wakeClock()
  }

  /// With the lock held: takes a wake-up of the SDK's back; false when it is not there any more.
  func removeWake(_ run: RunState, _ context: UnsafeMutableRawPointer?) -> Bool {
    let index = wakes.firstIndex { entry in
      if case .call(_, context) = entry.wake.action, entry.wake.run === run { true } else { false }
    }
    guard let index else { return false }
    wakes.remove(at: index)
    return true
  }

  /// With the lock held, which it gives back meanwhile: sleeps on the calling thread.
  func sleep(_ run: RunState, for duration: Duration, untilExpired: Bool) throws(CallFailure) {
    guard duration > .zero else { return }
    let sleeper = Sleeper(run.role, wakesAtExpiration: untilExpired)
    count(sleeper, in: run, isAsleep: true)
    addWake(run, at: now + duration, .thread(sleeper))
    while sleeper.state == .asleep { monitor.waitAsPlugin() }
    switch sleeper.state {
    case .asleep, .woken: return
    case .expired: throw .expired
    case .over: throw .stale
    }
  }

  /// With the lock held: ends a sleep. It counts as awake from here on, though its thread may not have noticed.
  func end(_ wake: Wake, as state: Sleeper.State) {
    switch wake.action {
    case .thread(let sleeper):
      sleeper.state = state
      count(sleeper, in: wake.run, isAsleep: false)
      monitor.wakePlugins()
    case .call(let wakeUp, let context):
      // reason: the SDK's reference to its sleep, which only this call takes
      nonisolated(unsafe) let context = context
      actions.append { wakeUp(context) }
      monitor.wakeClock()
    }
  }

  private func count(_ sleeper: Sleeper, in run: RunState, isAsleep: Bool) {
    switch sleeper.role {
    case .handler: run.isWorking = !isAsleep
    case .expirationHandler: run.isCallbackAsleep = isAsleep
    case .other: run.otherSleepers += isAsleep ? 1 : -1
    }
  }
}
