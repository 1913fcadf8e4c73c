import Glibc
import HostThreads
import TaskModel
import WorkerLink

/// What its process tells: on the spawner's thread until it has started, then on the loop's.
extension PluginWorker: WorkerProcess.Owner {
  func spawned(_ process: WorkerProcess) {
    monitor.lock()
    startDeadline = SystemClock.now + spec.launchBudget + Self.launchPatience
    conduct = WorkerConduct(began: SystemClock.now)
    admitted = []
    phase = isClosing ? .killed(process, .overdue) : .starting(process)
    let isKilled = isClosing
    surroundings.loop.arm(self, at: startDeadline)
    monitor.unlock()
    process.attach()
    process.send(
      .boot(
        WorkerBoot(
          host: getpid(), confinement: process.confinement, identifier: spec.identifier, adoption: spec.adoption,
          handlerLimit: spec.handlerLimit,
          launchBudget: spec.launchBudget, landlockLimit: spec.landlockLimit)))
    if isKilled { process.kill() }
  }

  func spawnFailed(_ failure: WorkerSpawn.Failure) {
    var events: [LauncherEvent] = []
    monitor.locked {
      phase = .none
      events = fail(LaunchFailure(step: .load, observed: failure.observed), lacking: failure.cause)
      monitor.broadcast()
    }
    for event in events { surroundings.sink(event) }
  }

  func received(_ message: WorkerMessage, from process: WorkerProcess) {
    let now = SystemClock.now
    guard isProper(message, process, at: now) else { return }
    var events: [LauncherEvent] = []
    switch message {
    case .confined(let missing): monitor.locked { self.missing = process.unenforced(missing) }
    case .launchLog(let line): if passesLine(at: now) { policy.log(line) }
    case .launched(let report):
      // What it printed while it launched is no run's, an unfinished line neither: it has flushed it.
      process.readOutput()
      events = monitor.locked { launched(report, process) }
    case .refused(let failure):
      events = monitor.locked {
        guard isStarting(process) else { return violation(process, "it launched twice") }
        return giveUp(process, failure)
      }
    case .ended(let endings):
      readOutput(of: process, before: endings)
      events = monitor.locked { ended(endings, process) }
    case .withdrawn(let run): events = monitor.locked { withdrawn(run, process, at: now) }
    case .began(let run):
      events = monitor.locked {
        guard let entry = runs[run], entry.isSent, entry.askedBack != nil || entry.awaitsBegin else { return stray(process, at: now) }
        begin(run, at: now)
        runs[run]?.hearBegin()
        return entry.order.tellsBegin ? begins() + [.began(run)] : begins()
      }
    case .shortage(let identifier, let sentence):
      events = monitor.locked { shortage(of: identifier, sentence, process, at: now) }
    case .expired(let run, let reason):
      events = about(run, process, at: now) { (entry) throws(WorkerConduct.Violation) in
        guard try entry.hearExpiration(reason, at: now) else { return stray(process, at: now) }
        surroundings.loop.arm(self, at: entry.forceAt)
        return [.expired(entry.reference, entry.stop ?? reason)]
      }
    case .progress(let run, let progress):
      events = about(run, process, at: now) { (entry) throws(WorkerConduct.Violation) in
        try entry.hear(progress, at: now)
        return [.progress(entry.reference, progress)]
      }
    case .log(let run?, let line):
      events = about(run, process, at: now) { (entry) throws(WorkerConduct.Violation) in
        try entry.hear(line, at: now)
        return conduct.passLine(at: now) ? [.log(entry.reference, line)] : []
      }
    case .log(nil, var line):
      // In a worker that only finds out who the plugin is, it is denied what its own settings may give it.
      if spec.identifier == nil { line.level = .debug }
      if passesLine(at: now) { events = output(line) }
    case .dropped: break
    case .stuck(let run, let thread, let stack):
      events = about(run, process, at: now) { (entry) throws(WorkerConduct.Violation) in
        try entry.checkStuck(at: now)
        return stuck(&entry, thread: thread, stack: stack)
      }
    case .call(let number, let call): serve(call, number: number, from: process)
    case .stopped: break
    }
    for event in events + droppedLines(at: now) { surroundings.sink(event) }
  }

  /// Whether a message may come now; what may not ends the process. A process that is being ended for that is not listened to any more.
  private func isProper(_ message: WorkerMessage, _ process: WorkerProcess, at now: MonotonicTime) -> Bool {
    monitor.locked {
      if case .killed(_, .violation) = phase { return false }
      var isLeaving = false
      if case .stopping = phase { isLeaving = true }
      if case .killed(_, .overdue) = phase { isLeaving = true }
      do throws(WorkerConduct.Violation) { try conduct.judge(message, isLeaving: isLeaving, at: now) } catch {
        kill(process, violation: error.what)
        return false
      }
      return true
    }
  }

  func wrote(_ line: LogLine, in process: WorkerProcess) {
    for event in output(line) { surroundings.sink(event) }
  }

  func broke(_ process: WorkerProcess, _ reason: String) {
    monitor.locked { kill(process, violation: "it sent what is no message on its link: \(reason)") }
  }

  private func passesLine(at now: MonotonicTime) -> Bool { monitor.locked { conduct.passLine(at: now) } }

  /// A line about those that were dropped, as soon as there is room for one.
  private func droppedLines(at now: MonotonicTime) -> [LauncherEvent] {
    told(dropped: monitor.locked { conduct.takeDropped(at: now) })
  }

  /// A line about lines that were dropped, if there were any.
  func told(dropped: UInt64) -> [LauncherEvent] {
    guard dropped > 0 else { return [] }
    return output(
      LogLine(time: SystemClock().wallTime, level: .warning, message: "\(dropped) log lines were dropped: too many at once"))
  }

  /// What a process has written by the end of its only run is that run's, an unfinished line too: it has flushed it, and the run is gone
  /// from here afterwards.
  private func readOutput(of process: WorkerProcess, before endings: [WireEnding]) {
    let isAlone = monitor.locked { endings.count == 1 && runs.count == 1 && runs[endings[0].run]?.isSent == true }
    if isAlone { process.readOutput() }
  }

  /// Changes what is known of a run that its worker speaks of. One that it does not have may have ended just now: that is not told.
  private func about(
    _ run: RunID, _ process: WorkerProcess, at now: MonotonicTime,
    _ body: (inout WorkerRun) throws(WorkerConduct.Violation) -> [LauncherEvent]
  ) -> [LauncherEvent] {
    monitor.locked {
      do throws(WorkerConduct.Violation) {
        guard var entry = runs[run], entry.isSent else {
          try conduct.noteStrayWord(at: now)
          return []
        }
        let events = try body(&entry)
        runs[run] = entry
        return events
      } catch { return violation(process, error.what) }
    }
  }

  // MARK: With the lock held

  private func launched(_ report: LaunchReport, _ process: WorkerProcess) -> [LauncherEvent] {
    guard isStarting(process) else { return violation(process, "it launched twice") }
    let identifiers = Set(report.registrations.map(\.identifier))
    guard report.registrations.count <= spec.handlerLimit, identifiers.count == report.registrations.count,
      identifiers.isSubset(of: admitted)
    else { return violation(process, "it registered what it was not admitted to") }
    if let expected, expected != report.registrations {
      return giveUp(
        process,
        LaunchFailure(
          step: .registration, observed: "its registration was refused: it registered something else than at the host's launch"))
    }
    conduct.noteLaunched()
    expected = report.registrations
    finishLaunch(
      .success(
        Launch(
          registrations: report.registrations, changes: report.changes, askedForSettings: askedForSettings || report.askedTooEarly,
          askedForRequests: askedForRequests, missing: missing)))
    phase = .ready(process)
    startDeadline = .distantFuture
    if !contracts.isEmpty { process.send(.contracts(Array(contracts.values))) }
    sendWaiting(to: process)
    rest()
    if isClosing, runs.isEmpty { stop(process) }
    return relief() + begins()
  }

  /// A run that the worker was asked for, or could not begin.
  private func withdrawn(_ run: RunID, _ process: WorkerProcess, at now: MonotonicTime) -> [LauncherEvent] {
    // One that ended with its process in this moment is there no more.
    guard let entry = runs[run], entry.isSent else { return stray(process, at: now) }
    guard entry.askedBack != nil || isShort else { return violation(process, "it gave back a run that it was not asked for") }
    guard entry.awaitsBegin == entry.order.tellsBegin else { return violation(process, "it gave back a run that it had begun") }
    _ = remove(run, at: now)
    if case .ready = phase { rest() }
    return [.withdrawn(run)] + begins()
  }

  /// Runs could not begin in the worker; they are given back.
  private func shortage(
    of identifier: TaskIdentifier, _ sentence: String, _ process: WorkerProcess, at now: MonotonicTime
  ) -> [LauncherEvent] {
    guard contracts[identifier] != nil else { return violation(process, "it spoke of an identifier that it does not have") }
    do throws(WorkerConduct.Violation) { try conduct.noteShortage() } catch { return violation(process, error.what) }
    isShort = true
    if let told = shortageToldAt[identifier], now - told < Self.shortageInterval { return [] }
    shortageToldAt[identifier] = now
    return [.shortage(identifier, "a run in its worker could not begin: \(sentence)", .resources)]
  }

  /// The host has what it lacked.
  private func relief() -> [LauncherEvent] {
    guard isShort else { return [] }
    isShort = false
    shortageToldAt = [:]
    return contracts.keys.sorted { $0.rawValue < $1.rawValue }.map { .relieved($0) }
  }

  /// A worker without runs is kept for a while.
  private func rest() {
    guard runs.isEmpty else { return }
    idleDeadline = SystemClock.now + spec.idleTime
    surroundings.loop.arm(self, at: idleDeadline)
  }

  private func ended(_ endings: [WireEnding], _ process: WorkerProcess) -> [LauncherEvent] {
    let now = SystemClock.now
    var events: [LauncherEvent] = []
    for ending in endings {
      guard let entry = runs[ending.run], entry.isSent else {
        // A run that is being forced may have ended in the same moment.
        if case .killed = phase { continue }
        return events + violation(process, "it ended a run that it does not have")
      }
      if case .killed(_, .force(let forced)) = phase, forced[ending.run] != nil { continue }
      let report: RunReport
      do throws(WorkerConduct.Violation) { report = try entry.report(of: ending, at: now) } catch {
        return events + violation(process, error.what)
      }
      _ = remove(ending.run, at: now)
      keepForRequests(entry, expired: entry.stop != nil || report.stopReason != nil, at: now)
      // Its word of the expiration and its word of the end are sent by two threads, in either order.
      if let reason = report.stopReason, !entry.isExpirationTold { events.append(.expired(entry.reference, reason)) }
      events.append(.ended(ending.run, ending.ending, report))
    }
    if case .ready = phase { rest() }
    if !endings.isEmpty { events += relief() }
    return events + begins()
  }

  private func isStarting(_ process: WorkerProcess) -> Bool {
    if case .starting(let current) = phase { current === process } else { false }
  }

  private func stuck(_ entry: inout WorkerRun, thread: String, stack: String) -> [LauncherEvent] {
    entry.stuck = "stuck in thread \(thread)" + (stack.isEmpty ? ", whose stack could not be had" : "\n" + stack)
    kill(forcing: entry.order.run, reason: entry.reasonForForce)
    return [.stuck(entry.reference, thread: thread, stack: stack)]
  }

  /// It said what need not mean anything any more: some of that is the timing's, much is not.
  private func stray(_ process: WorkerProcess, at now: MonotonicTime) -> [LauncherEvent] {
    do throws(WorkerConduct.Violation) { try conduct.noteStrayWord(at: now) } catch { return violation(process, error.what) }
    return []
  }

  private func violation(_ process: WorkerProcess, _ what: String) -> [LauncherEvent] {
    kill(process, violation: what)
    return []
  }

  private func finishLaunch(_ outcome: Result<Launch, LaunchFailure>) {
    guard launchOutcome == nil else { return }
    launchOutcome = outcome
    monitor.broadcast()
  }

  /// Its launch did not succeed.
  private func giveUp(_ process: WorkerProcess, _ failure: LaunchFailure) -> [LauncherEvent] {
    phase = .killed(process, .overdue)
    startDeadline = .distantFuture
    process.kill()
    return fail(failure, incident: process.number)
  }

  /// The host could not start a process: who waits for the launch is told, and the runs that waited for it are given back. It is not held
  /// against the plugin.
  func fail(_ failure: LaunchFailure, lacking cause: ShortageCause) -> [LauncherEvent] {
    finishLaunch(.failure(failure))
    let (waiting, now) = (order, SystemClock.now)
    isShort = true
    let concerned = contracts.keys.sorted { $0.rawValue < $1.rawValue }
    return concerned.map { .shortage($0, Self.message(failure), cause) }
      + waiting.compactMap { id in remove(id, at: now).map { _ in .withdrawn(id) } }
  }

  private static func message(_ failure: LaunchFailure) -> String { "its worker could not be started: \(failure.observed)" }

  /// No process could be brought up: who waits for the launch is told, and the runs that waited for it have crashed.
  func fail(_ failure: LaunchFailure, incident: UInt64) -> [LauncherEvent] {
    finishLaunch(.failure(failure))
    let (waiting, now) = (order, SystemClock.now)
    return waiting.compactMap { id in
      guard let entry = remove(id, at: now) else { return nil }
      var report = entry.report(nil, isAlone: false)
      report.message = Self.message(failure)
      report.incident = incident
      return .ended(id, .crashed, report)
    }
  }

  /// A line that no run is named for is the run's that is alone.
  private func output(_ line: LogLine) -> [LauncherEvent] {
    monitor.locked {
      if runs.count == 1, let run = order.first, let entry = runs[run], entry.isSent {
        runs[run]?.note(line)
        return [.log(entry.reference, line)]
      }
      guard let identifier = contracts.keys.sorted(by: { $0.rawValue < $1.rawValue }).first ?? spec.identifier else {
        policy.log(line)
        return []
      }
      return [.output(identifier, line)]
    }
  }
}
