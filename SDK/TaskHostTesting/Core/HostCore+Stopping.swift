import CTaskHost
import TaskHostSDK

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Expiration, force, and the death of a run's process. All with the lock held.
extension HostCore {
  func interrupt(_ run: RunState, _ kind: Interruption.Kind) {
    switch kind {
    case .expire(let reason): expire(run, reason)
    case .kill: kill(run)
    }
  }

  /// Marks the run expired, wakes who sleeps or polls, and has its expiration handler called. Nothing happens the second time.
  func expire(_ run: RunState, _ reason: StopReason) {
    guard run.phase == .live, run.report.stopReason == .none, reason != .none else { return }
    run.report.stopReason = reason
    run.report.expiredAfter = now - run.report.started
    run.forceAt = now + run.grace
    run.signalDescriptor()
    endSleeps(of: run, as: .expired) { $0.wakesAtExpiration }
    callExpirationHandler(of: run, reason)
    changed(run)
    monitor.wakeClock()
  }

  private func callExpirationHandler(of run: RunState, _ reason: StopReason) {
    guard let handler = run.expirationHandler else { return }
    // reason: the plugin keeps it valid until the handler is cleared
    nonisolated(unsafe) let context = run.expirationContext
    run.callback = .calling
    let code = reason.code
    do throws(TestHostError) {
      try PluginThread.start("expiration") { [self] in
        monitor.locked { run.callbackThread = pthread_self() }
        handler(run.handle, code, context)
        monitor.locked {
          run.callback = .returned
          run.callbackThread = nil
          monitor.wakePlugins()
          monitor.wakeClock()
        }
      }
    } catch {
      run.callback = .none
      run.report.message = "the expiration handler could not be called: \(error)"
    }
  }

  /// The header's set_expiration_handler: sets, or clears with NULL.
  func setExpirationHandler(
    _ run: RunState, _ handler: taskhost_expiration_handler?, _ context: UnsafeMutableRawPointer?
  ) throws(CallFailure) {
    guard let handler else { return try clearExpirationHandler(run) }
    guard run.phase == .live else { throw .stale }
    guard !run.report.isExpired else {
      throw CallFailure(TASKHOST_EEXPIRED, "the run has expired: the handler will not be called")
    }
    run.expirationHandler = handler
    run.expirationContext = context
  }

  /// Waits for a call in progress, also after force, since its context may be on the run's stack.
  private func clearExpirationHandler(_ run: RunState) throws(CallFailure) {
    let isInside = run.callbackThread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    if !isInside {
      let role = run.role
      if role == .handler { run.isWorking = false }
      monitor.wakeClock()
      while run.callback == .calling { monitor.waitAsPlugin() }
      if role == .handler { run.isWorking = true }
    }
    run.expirationHandler = nil
    run.expirationContext = nil
    guard run.phase == .live else { throw .stale }
    if run.callback != .none { throw CallFailure(TASKHOST_EEXPIRED, "the expiration handler was called") }
  }

  /// Gives the run up: its handle is stale from now on, its thread is left behind.
  func force(_ run: RunState) {
    guard run.phase == .live else { return }
    if run.report.stopReason == .none {
      run.report.stopReason = .budget
      run.report.expiredAfter = now - run.report.started
      run.signalDescriptor()
    }
    run.phase = .forced
    run.plugin.mustRelaunch = true
    finish(run, .forced)
    endSleeps(of: run, as: .over) { _ in true }
  }

  /// Ends the run as if its process had died: nothing of it goes on.
  func kill(_ run: RunState) {
    guard run.phase == .live else { return }
    run.phase = .killed
    run.plugin.mustRelaunch = true
    // Threads that sleep wake up to be frozen where nothing can reach them; Swift tasks that sleep stay so.
    endSleeps(of: run, as: .over) { _ in true }
    finish(run, .killed)
  }

  /// The handler has returned.
  func returned(_ run: RunState, _ code: taskhost_result) {
    guard run.phase == .live else { return }
    run.phase = .returned
    let result: TaskResult
    switch Int(code) {
    case TASKHOST_SUCCESS: result = .success
    case TASKHOST_NOOP: result = .noop
    case TASKHOST_SNOOZE: result = .snooze(after: run.report.retryAfter)
    case TASKHOST_RETRY: result = .retry(after: run.report.retryAfter)
    case TASKHOST_FAILURE: result = .failure
    default:
      result = .failure
      run.report.message = "the handler returned \(code), which is no result of taskhost.h"
    }
    finish(run, .returned(result))
    endSleeps(of: run, as: .over) { _ in true }
  }

  /// The run has ended.
  private func finish(_ run: RunState, _ ending: RunEnding) {
    run.report.ended = now
    run.report.ending = ending
    run.report.missedInterruptions = run.interruptions
    run.interruptions = []
    runs.removeAll { $0 === run }
    lastMovement = Monitor.realNanoseconds
    requestEnded(run)
    changed(run)
    monitor.wakeClock()
  }

  private func endSleeps(of run: RunState, as state: Sleeper.State, where isMeant: (Sleeper) -> Bool) {
    let isOver = state == .over
    let ended = wakes.filter { entry in
      guard entry.wake.run === run else { return false }
      if case .thread(let sleeper) = entry.wake.action { return isMeant(sleeper) }
      return isOver
    }
    let ids = Set(ended.map(\.id))
    wakes.removeAll { ids.contains($0.id) }
    for (_, wake) in ended {
      if case .call = wake.action, run.phase == .killed { continue }
      end(wake, as: state)
    }
  }
}

extension RunState {
  /// Which of its threads calls.
  var role: Sleeper.Role {
    if let thread, pthread_equal(thread, pthread_self()) != 0 { return .handler }
    if let callbackThread, pthread_equal(callbackThread, pthread_self()) != 0 { return .expirationHandler }
    return .other
  }

  /// When an interruption at a time on the clock is due; `nil`: it is not bound to one.
  func moment(of interruption: Interruption) -> Duration? {
    guard case .time(let time) = interruption.moment.kind else { return nil }
    return report.started + time
  }

  /// The interruptions that are due by then, taken from those to come.
  func takeInterruptions(until now: Duration) -> [Interruption] {
    let due = interruptions.filter { moment(of: $0).map { $0 <= now } ?? false }
    if !due.isEmpty { interruptions.removeAll { moment(of: $0).map { $0 <= now } ?? false } }
    return due.sorted { (moment(of: $0) ?? .zero) < (moment(of: $1) ?? .zero) }
  }

  /// The interruptions at that moment, taken from those to come.
  func takeInterruptions(at isMeant: (Moment.Kind) -> Bool) -> [Interruption] {
    let due = interruptions.filter { isMeant($0.moment.kind) }
    if !due.isEmpty { interruptions.removeAll { isMeant($0.moment.kind) } }
    return due
  }
}
