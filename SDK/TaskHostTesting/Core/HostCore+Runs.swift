import HostThreads
import TaskHostSDK
import TaskScheduler
import Glibc
import PluginRuntime
import TaskModel
import TypedCalls

extension HostCore {
  /// Starts a run of a pending request now.
  ///
  /// - Throws: ``TestHostError``.
  func start(_ request: RequestID, _ interruptions: [Interruption]) throws(TestHostError) -> RunState {
    try relaunch()
    return try started(interruptions) { () throws(RequestRefusal) in try scheduler.start(request) }.get()
  }

  /// Starts the first due request that nothing holds.
  ///
  /// - Returns: The run; or when to try again, nil if only an event can change the answer.
  func startNext(_ interruptions: [Interruption]) throws(TestHostError) -> (run: RunState?, retry: Duration?) {
    try relaunch()
    var retry: WallTime?
    let run = try started(interruptions) { () throws(RequestRefusal) in retry = try scheduler.startNext() }
    if case .success(let run) = run { return (run, nil) }
    return (nil, retry.map(clock.elapsed(at:)))
  }

  private func started(
    _ interruptions: [Interruption], _ start: () throws(RequestRefusal) -> Void
  ) throws(TestHostError) -> Result<RunState, TestHostError> {
    let result = monitor.locked {
      Result { () throws(TestHostError) -> RunState? in
        guard !isStopped else { throw TestHostError.notPossible("the test host was stopped") }
        do throws(RequestRefusal) { try start() } catch { throw TestHostError(error) }
        let effects = scheduler.takeEffects()
        for record in effects.ended { note(record) }
        guard var order = effects.orders.first, let plugin = plugins.first(where: { $0.identifiers.contains(order.contract.identifier) }),
          let launcher = plugin.launcher
        else { return nil }
        do { order = try payloads.complete(order) } catch {
          throw TestHostError.notPossible("the payload does not fit the handler: \(error)")
        }
        let run = RunState(core: self, plugin: plugin, launcher: launcher, order: order, interruptions: interruptions)
        runs.append(run)
        states[order.run] = run
        lastMovement = SystemClock.now
        return run
      }
    }
    guard let run = try result.get() else { return .failure(TestHostError.notPossible("nothing is due")) }
    // The launcher then reports the begin, which names the run's thread.
    var order = run.order
    order.tellsBegin = true
    run.launcher.start([order])
    monitor.locked {
      run.isHandedOut = true
      monitor.broadcast()
    }
    return .success(run)
  }

  /// Launches again the plugins whose processes would have ended.
  private func relaunch() throws(TestHostError) {
    for plugin in plugins where monitor.locked({ plugin.launcher == nil }) { try launch(plugin) }
  }

  // MARK: What the launcher tells

  /// Receives an event, on a thread of the run or one that checks it.
  func receive(_ event: LauncherEvent) {
    monitor.lock()
    switch event {
    case .began(let id): live(id).map(began)
    case .expired(let reference, let reason): live(reference.run).map { expired($0, reason) }
    case .progress(let reference, let progress):
      guard let run = live(reference.run) else { break }
      let time = clock.elapsed - run.report.started
      run.report.progress.append(
        RunProgress(
          time: time, completed: progress.completed, total: progress.total, unit: progress.unit, message: progress.message))
      happened(run) { if case .progress(let wanted) = $0 { progress.completed >= wanted } else { false } }
    case .work(let reference, let work):
      guard let run = live(reference.run) else { break }
      run.report.work = WorkCounts(work)
      changed(run)
    case .log(let reference, let line):
      guard let run = live(reference.run) else { break }
      run.report.log.append(LogLine(line, at: clock.elapsed))
      run.looks = 0
      changed(run)
    case .ended(let id, let ending, let report):
      if let run = live(id) { finish(run, ending, report) }
    case .withdrawn(let id):
      var report = TaskModel.RunReport()
      report.message = "its thread could not be made"
      if let run = live(id) { finish(run, .returned(.retry, stop: nil), report) }
    case .shortage, .relieved, .stuck, .output, .misbehaved, .suspended, .resumed: break
    }
    let isKilled = killed(by: event)
    monitor.unlock()
    if isKilled { Frozen.forever() }
  }

  /// Whether the event's call belongs to a run that the event killed.
  private func killed(by event: LauncherEvent) -> Bool {
    switch event {
    case .progress(let reference, _), .work(let reference, _), .log(let reference, _): states[reference.run]?.isKilled ?? false
    default: false
    }
  }

  private func live(_ id: RunID) -> RunState? { states[id].flatMap { $0.isOver ? nil : $0 } }

  private func began(_ run: RunState) {
    run.thread = pthread_self()
    guard run.order.tellsBegin else { return }
    try? scheduler.began(run.order.run)
    carryOut()
  }

  private func expired(_ run: RunState, _ reason: TaskModel.StopReason) {
    run.report.stopReason = reason.shown
    run.report.expiredAfter = clock.elapsed - run.report.started
    run.undecided = []
    endSleeps(of: run) { $0.wakesAtExpiration }
    changed(run)
    monitor.broadcast()
  }

  // MARK: Stopping runs. All with the lock held

  func interrupt(_ run: RunState, _ kind: Interruption.Kind) {
    switch kind {
    case .expire(let reason): expire(run, reason)
    case .kill: kill(run)
    }
  }

  /// Asks a run to stop and waits until it knows; releases the lock meanwhile. As in a host, cancelling a run cancels its request.
  func expire(_ run: RunState, _ reason: TaskHostSDK.StopReason) {
    guard !run.isOver, !run.report.isExpired, let reason = TaskModel.StopReason(reason) else { return }
    guard reason == .cancelled else { return tell(run, reason) }
    cancel(run)
  }

  /// Asks a run to stop if the host drains and the run holds no assertion; false if it does not.
  @discardableResult func drainIfDue(_ run: RunState) -> Bool {
    guard let time = run.drainTime, time <= clock.elapsed else { return false }
    run.isDrained = true
    expire(run, .draining)
    return true
  }

  func cancel(_ run: RunState) {
    try? scheduler.cancel(run.order.request)
    carryOut()
  }

  private func tell(_ run: RunState, _ reason: TaskModel.StopReason) {
    monitor.unlock()
    run.launcher.expire(run.order.run, reason: reason)
    monitor.lock()
    guard !isClockThread else { return }
    while !run.isOver, !run.report.isExpired, !isStopped { monitor.wait() }
  }

  /// Gives a run up: its handle becomes stale, its thread is left behind.
  func force(_ run: RunState) {
    guard !run.isOver else { return }
    monitor.unlock()
    run.launcher.force(run.order.run, reason: .budget)
    monitor.lock()
  }

  /// Ends the run as if its process died.
  func kill(_ run: RunState) {
    guard !run.isOver else { return }
    run.isKilled = true
    finish(run, .crashed, TaskModel.RunReport())
  }

  /// Performs the interruptions that are bound to this step.
  func happened(_ run: RunState, _ isMeant: (Moment.Kind) -> Bool) {
    run.looks = 0
    for interruption in run.takeInterruptions(at: isMeant) { interrupt(run, interruption.kind) }
    changed(run)
  }

  /// Carries out the effects of the scheduler's turns.
  func carryOut() {
    let effects = scheduler.takeEffects()
    for record in effects.ended { note(record) }
    for (id, reason) in effects.expirations { if let run = live(id), !run.report.isExpired { tell(run, reason) } }
  }

  private func finish(_ run: RunState, _ ending: TaskModel.RunEnding, _ report: TaskModel.RunReport) {
    run.isOver = true
    run.report.ended = clock.elapsed
    for (index, _) in run.assertions.values { run.report.assertions[index].end(at: clock.elapsed - run.report.started, .withRun) }
    if !run.isKilled { run.report.take(report) }
    // A run that returns at this moment may end before it learns that it expired.
    if let reason = report.stopReason, !run.report.isExpired {
      run.report.stopReason = reason.shown
      run.report.expiredAfter = clock.elapsed - run.report.started
    }
    run.report.ending = RunEnding(ending, after: report.retryAfter)
    run.report.missedInterruptions = run.interruptions
    run.interruptions = []
    run.armed = nil
    run.undecided = []
    if run.isKilled || report.forced { run.plugin.launcher = nil }
    var recorded = report
    recorded.handlerTime = clock.elapsed - run.report.started
    if recorded.stopReason == nil { recorded.stopReason = TaskModel.StopReason(run.report.stopReason) }
    runs.removeAll { $0 === run }
    if isStopped, !run.isKilled { states[run.order.run] = nil }
    endedRuns += 1
    lastMovement = SystemClock.now
    try? scheduler.ended(run.order.run, ending, recorded)
    carryOut()
    reports[run.order.request, default: []].append(run.report)
    endSleeps(of: run) { _ in true }
    changed(run)
    monitor.broadcast()
  }

  private func note(_ record: RunRecord) {
    states[record.id]?.report.outcome = record.outcome.map(RunOutcome.init)
  }

  // MARK: The end of the test host

  /// Gives up all runs and ends the clock's thread.
  func stop() {
    let (runs, launchers) = monitor.locked {
      isStopped = true
      let launchers = plugins.compactMap(\.launcher)
      for plugin in plugins { plugin.launcher = nil }
      // The rest keep the test host alive: live runs until they end, killed runs for good.
      states = states.filter { !$0.value.isOver || $0.value.isKilled }
      abandonWaiters()
      monitor.broadcast()
      return (self.runs, launchers)
    }
    for run in runs { run.launcher.force(run.order.run, reason: .draining) }
    for launcher in launchers { launcher.forgetPlugins() }
  }
}
