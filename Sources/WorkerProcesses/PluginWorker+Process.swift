import Glibc
import HostThreads
import TaskModel
import WorkerLink

/// What its process tells: on the spawner's thread until it has started, then on the loop's.
extension PluginWorker: WorkerProcess.Owner {
  func spawned(_ process: WorkerProcess) {
    monitor.lock()
    startDeadline = SystemClock.now + spec.launchBudget + Self.launchPatience
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
      events = fail(LaunchFailure(step: .load, observed: failure.observed), incident: nil)
      monitor.broadcast()
    }
    for event in events { surroundings.sink(event) }
  }

  func received(_ message: WorkerMessage, from process: WorkerProcess) {
    var events: [LauncherEvent] = []
    switch message {
    case .confined(let missing): monitor.locked { self.missing = process.unenforced(missing) }
    case .launchLog(let line): policy.log(line)
    case .launched(let report): events = monitor.locked { launched(report, process) }
    case .refused(let failure):
      events = monitor.locked {
        guard isStarting(process) else { return violation(process, "it launched twice") }
        return giveUp(process, failure)
      }
    case .ended(let endings): events = monitor.locked { ended(endings, process) }
    case .withdrawn(let run): events = monitor.locked { withdrawn(run, process) }
    case .began(let run):
      events = monitor.locked {
        guard runs[run]?.askedBack != nil else { return [] }
        begin(run, at: SystemClock.now)
        return begins()
      }
    case .shortage(let identifier, let sentence):
      events = monitor.locked {
        guard contracts[identifier] != nil else { return violation(process, "it spoke of an identifier that it does not have") }
        isShort = true
        return [.shortage(identifier, "a run in its worker could not begin: \(sentence.escapingControlCharacters)")]
      }
    case .expired(let run, let reason):
      events = monitor.locked {
        guard var entry = runs[run], entry.isSent else { return [] }
        entry.expire(reason, at: SystemClock.now)
        runs[run] = entry
        surroundings.loop.arm(self, at: entry.forceAt)
        return [.expired(entry.reference, entry.stop ?? reason)]
      }
    case .progress(let run, let progress):
      events = monitor.locked {
        guard let entry = runs[run], entry.isSent else { return [] }
        runs[run]?.advance(progress, at: SystemClock.now)
        return [.progress(entry.reference, progress)]
      }
    case .log(let run?, let line):
      events = monitor.locked {
        guard let entry = runs[run], entry.isSent else { return [] }
        runs[run]?.note(line)
        return [.log(entry.reference, line)]
      }
    case .log(nil, var line):
      // In a worker that only finds out who the plugin is, it is denied what its own settings may give it.
      if spec.identifier == nil { line.level = .debug }
      events = output(line)
    case .dropped(let lines):
      events = output(
        LogLine(time: SystemClock().wallTime, level: .warning, message: "\(lines) log lines were dropped: too many at once"))
    case .stuck(let run, let thread, let stack): events = monitor.locked { stuck(run, thread: thread, stack: stack) }
    case .call(let number, let call): serve(call, number: number, from: process)
    case .stopped: break
    }
    for event in events { surroundings.sink(event) }
  }

  func wrote(_ line: LogLine, in process: WorkerProcess) {
    for event in output(line) { surroundings.sink(event) }
  }

  func broke(_ process: WorkerProcess, _ reason: String) {
    monitor.locked { kill(process, violation: "it sent what is no message on its link: \(reason)") }
  }

  // MARK: With the lock held

  private func launched(_ report: LaunchReport, _ process: WorkerProcess) -> [LauncherEvent] {
    guard isStarting(process) else { return violation(process, "it launched twice") }
    if let expected, expected != report.registrations {
      return giveUp(
        process,
        LaunchFailure(
          step: .registration, observed: "its registration was refused: it registered something else than at the host's launch"))
    }
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
  private func withdrawn(_ run: RunID, _ process: WorkerProcess) -> [LauncherEvent] {
    // One that ended with its process in this moment is there no more.
    guard let entry = runs[run], entry.isSent else { return [] }
    guard entry.askedBack != nil || isShort else { return violation(process, "it gave back a run that it was not asked for") }
    _ = remove(run, at: SystemClock.now)
    if case .ready = phase { rest() }
    return [.withdrawn(run)] + begins()
  }

  /// The host has what it lacked.
  private func relief() -> [LauncherEvent] {
    guard isShort else { return [] }
    isShort = false
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
      _ = remove(ending.run, at: now)
      var report = ending.report
      keepForRequests(entry, expired: entry.stop != nil || report.stopReason != nil, at: now)
      report.log = entry.log
      if report.progress == nil { report.progress = entry.progress }
      if report.stopReason != nil { report.stopStage = .asked }
      events.append(.ended(ending.run, ending.ending, report))
    }
    if case .ready = phase { rest() }
    if !endings.isEmpty { events += relief() }
    return events + begins()
  }

  private func isStarting(_ process: WorkerProcess) -> Bool {
    if case .starting(let current) = phase { current === process } else { false }
  }

  private func stuck(_ run: RunID, thread: String, stack: String) -> [LauncherEvent] {
    guard let entry = runs[run], entry.isSent else { return [] }
    let place = "stuck in thread \(thread)" + (stack.isEmpty ? ", whose stack could not be had" : "\n" + stack)
    runs[run]?.stuck = place.isEmpty ? nil : place
    kill(forcing: run, reason: entry.reasonForForce)
    return [.stuck(entry.reference, thread: thread, stack: stack)]
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

  /// No process could be brought up: who waits for the launch is told, and the runs that waited for it have crashed.
  ///
  /// - Parameter incident: Nil: the host could not start a process. That is not held against the plugin, and its runs are given back.
  func fail(_ failure: LaunchFailure, incident: UInt64?) -> [LauncherEvent] {
    finishLaunch(.failure(failure))
    let waiting = order
    let now = SystemClock.now
    let message = "its worker could not be started: \(failure.observed.escapingControlCharacters)"
    guard let incident else {
      isShort = true
      let concerned = contracts.keys.sorted { $0.rawValue < $1.rawValue }
      return concerned.map { .shortage($0, message) } + waiting.compactMap { id in remove(id, at: now).map { _ in .withdrawn(id) } }
    }
    return waiting.compactMap { id in
      guard let entry = remove(id, at: now) else { return nil }
      var report = entry.report(nil, isAlone: false)
      report.message = message
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
