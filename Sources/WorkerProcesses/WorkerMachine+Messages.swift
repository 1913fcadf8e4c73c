import TaskModel
import WorkerLink

/// Messages of the process.
extension WorkerMachine {
  typealias Violation = WorkerConduct.Violation

  /// The maximum number of runs kept for their submissions.
  static let gracedLimit = 1024
  /// Shortages of several runs within this time count as one. It is shorter than any wait before a worker gets runs again.
  static let shortageInterval = Duration.milliseconds(500)

  /// Ignores a process that was killed for a violation. What another one sent before it died counts.
  mutating func receive(_ message: WorkerMessage, at now: Moment) {
    if case .killed(.violation) = phase { return }
    let isLeaving =
      switch phase {
      case .stopping, .killed(.launchOverdue), .killed(.hostEnds), .killed(.launchFailed), .killed(.shutdownOverdue): true
      case .none, .spawning, .launching, .serving, .idle, .killed(.force), .killed(.violation): false
      }
    do throws(Violation) { try present?.conduct.judge(message, isLeaving: isLeaving, at: now.time) } catch { return violate(error.what) }
    do throws(Violation) { try hear(message, at: now) } catch { violate(error.what) }
    tell(dropped: present?.conduct.takeDropped(at: now.time) ?? 0, at: now)
  }

  private mutating func hear(_ message: WorkerMessage, at now: Moment) throws(Violation) {
    guard present != nil else { return }
    switch message {
    case .confined(let missing): self.missing = missing
    case .launchLog(let line): if passesLine(at: now) { effects.append(.log(line)) }
    case .launched(let report): try hear(report, at: now)
    case .refused(let failure):
      guard isLaunching else { throw Violation(what: "it launched twice") }
      giveUp(failure, at: now)
    case .ended(let endings): try hear(endings, at: now)
    case .withdrawn(let run): try hearReturn(of: run, at: now)
    case .began(let run): try hearBegin(of: run, at: now)
    case .shortage(let identifier, let sentence): try hearShortage(of: identifier, sentence, at: now)
    case .expired(let run, _), .progress(let run, _), .work(let run, _), .log(.some(let run), _), .stuck(let run, _, _):
      try hear(message, of: run, at: now)
    case .log(nil, var line):
      // A worker that only identifies the plugin denies what the plugin's own settings may permit.
      if spec.identifier == nil { line.level = .debug }
      if passesLine(at: now) { output(line) }
    case .call(let number, let call): hear(call, number, at: now)
    case .dropped, .stopped: break
    }
  }

  private var isLaunching: Bool { if case .launching = phase { true } else { false } }

  private mutating func passesLine(at now: Moment) -> Bool { present?.conduct.passLine(at: now.time) ?? false }

  /// Counts a message about a run that is gone: a few are a matter of timing, many are a violation.
  private mutating func noteStray(at now: Moment) throws(Violation) { try present?.conduct.noteStrayWord(at: now.time) }

  // MARK: Its launch

  private mutating func hear(_ report: LaunchReport, at now: Moment) throws(Violation) {
    guard isLaunching else { throw Violation(what: "it launched twice") }
    let identifiers = Set(report.registrations.map(\.identifier))
    guard report.registrations.count <= spec.handlerLimit, identifiers.count == report.registrations.count,
      identifiers.isSubset(of: present?.admitted ?? [])
    else { throw Violation(what: "it registered what it was not admitted to") }
    if let expected, expected != report.registrations {
      return giveUp(
        LaunchFailure(
          step: .registration, observed: "its registration was refused: it registered something else than at the host's launch"), at: now)
    }
    present?.conduct.noteLaunched()
    expected = report.registrations
    finishLaunch(
      .success(
        PluginWorker.Launch(
          registrations: report.registrations, changes: report.changes, askedForSettings: askedForSettings || report.askedTooEarly,
          askedForRequests: askedForRequests, missing: missing)))
    serve(at: now)
    relieve()
  }

  /// Its launch did not succeed.
  private mutating func giveUp(_ failure: LaunchFailure, at now: Moment) {
    kill(.launchFailed)
    if let present { fail(failure, present, at: now) }
  }

  // MARK: Its runs

  private mutating func hear(_ endings: [WireEnding], at now: Moment) throws(Violation) {
    for ending in endings {
      guard let entry = runs[ending.run], entry.isSent else {
        // A run may end at the moment it is forced.
        if case .killed = phase { continue }
        throw Violation(what: "it ended a run that it does not have")
      }
      if case .killed(.force(let forced)) = phase, forced[ending.run] != nil { continue }
      let report = try entry.report(of: ending, at: now)
      _ = remove(ending.run, at: now)
      keepForRequests(entry, expired: entry.stop != nil || report.stopReason != nil, at: now)
      // Two threads send the expiration and the end, in either order.
      if let reason = report.stopReason, !entry.isExpirationTold { tell(.expired(entry.reference, reason)) }
      tell(.ended(ending.run, ending.ending, report))
    }
    rest(at: now)
    if !endings.isEmpty { relieve() }
  }

  /// Keeps a run that expired and has ended, so that its submissions are accepted for a while.
  private mutating func keepForRequests(_ entry: WorkerRun, expired: Bool, at now: Moment) {
    if !graced.isEmpty { graced = graced.filter { $0.value.end > now.time } }
    guard expired, graced.count < Self.gracedLimit else { return }
    let end = now.time + entry.order.contract.grace
    graced[entry.order.run] = (entry.reference, min(entry.force?.end ?? end, end))
  }

  /// The worker gives back a run that it was asked for or could not begin.
  private mutating func hearReturn(of run: RunID, at now: Moment) throws(Violation) {
    // It may have ended with its process at this moment.
    guard let entry = runs[run], entry.isSent else { return try noteStray(at: now) }
    guard entry.askedBack != nil || isShort else { throw Violation(what: "it gave back a run that it was not asked for") }
    guard entry.awaitsBegin == entry.order.tellsBegin else { throw Violation(what: "it gave back a run that it had begun") }
    _ = remove(run, at: now)
    rest(at: now)
    tell(.withdrawn(run))
  }

  private mutating func hearBegin(of run: RunID, at now: Moment) throws(Violation) {
    guard let entry = runs[run], entry.isSent, entry.askedBack != nil || entry.awaitsBegin else { return try noteStray(at: now) }
    begin(run, at: now)
    runs[run]?.hearBegin()
    tellBegins()
    if entry.order.tellsBegin { tell(.began(run)) }
  }

  /// Runs could not begin in the worker; it gives them back.
  private mutating func hearShortage(of identifier: TaskIdentifier, _ sentence: String, at now: Moment) throws(Violation) {
    guard contracts[identifier] != nil else { throw Violation(what: "it spoke of an identifier that it does not have") }
    try present?.conduct.noteShortage()
    isShort = true
    if let told = shortageToldAt[identifier], now.time - told < Self.shortageInterval { return }
    shortageToldAt[identifier] = now.time
    tell(.shortage(identifier, "a run in its worker could not begin: \(sentence)", .resources))
  }

  /// A message about one run. An unknown run may just have ended; its message is dropped.
  private mutating func hear(_ message: WorkerMessage, of run: RunID, at now: Moment) throws(Violation) {
    guard var entry = runs[run], entry.isSent else { return try noteStray(at: now) }
    switch message {
    case .expired(_, let reason):
      let isNews = try entry.hearExpiration(reason, at: now.time)
      runs[run] = entry
      guard isNews else { return try noteStray(at: now) }
      wakeForEnd(of: run)
      tell(.expired(entry.reference, entry.stop ?? reason))
    case .progress(_, let progress):
      try entry.hear(progress, at: now.time)
      runs[run] = entry
      tell(.progress(entry.reference, progress))
    case .work(_, let work):
      try entry.hear(work, at: now.time)
      runs[run] = entry
      tell(.work(entry.reference, work))
    case .log(_, let line):
      try entry.hear(line, at: now.time)
      runs[run] = entry
      if passesLine(at: now) { tell(.log(entry.reference, line)) }
    case .stuck(_, let thread, let stack):
      try entry.checkStuck(at: now.time)
      entry.stuck = "stuck in thread \(thread)" + (stack.isEmpty ? ", whose stack could not be had" : "\n" + stack)
      runs[run] = entry
      kill(forcing: run, reason: entry.reasonForForce)
      tell(.stuck(entry.reference, thread: thread, stack: stack))
    case .confined, .launched, .refused, .launchLog, .ended, .withdrawn, .began, .shortage, .dropped, .call, .stopped: break
    }
  }

  /// The host has what it lacked.
  private mutating func relieve() {
    guard isShort else { return }
    isShort = false
    shortageToldAt = [:]
    for identifier in sortedIdentifiers { tell(.relieved(identifier)) }
  }

  // MARK: Its calls

  private mutating func hear(_ call: WorkerCall, _ number: UInt64, at now: Moment) {
    let answering: Answering
    switch call {
    case .admit(let identifier):
      answering = launchAnswering
      if isLaunching { asked = asked ?? identifier }
    case .settings, .dataDirectory:
      answering = launchAnswering
      if isLaunching { askedForSettings = true }
    case .launchPending:
      answering = launchAnswering
      if isLaunching { askedForRequests = true }
    case .admitRequest, .resourceTokens: answering = launchAnswering
    case .state(let run, _), .setState(let run, _, _), .checkpoint(let run), .setCheckpoint(let run, _), .openFiles(let run, _, _),
      .beginAssertion(let run, _, _, _), .endAssertion(let run, _):
      answering = self.answering(run, isGraced: false, at: now)
    case .submit(let run, _), .cancel(let run, _), .pending(let run, _), .cancelPending(let run, _), .notify(let run, _, _),
      .ask(let run, _), .snooze(let run, _, _), .update(let run, _, _), .transferFolder(let run), .submitTransfer(let run, _),
      .changeTransfer(let run, _, _):
      answering = self.answering(run, isGraced: true, at: now)
    }
    effects.append(.answer(call, number: number, answering))
  }

  private var launchAnswering: Answering { isLaunching ? .askPolicy : .refuse(.launchIsOver) }

  /// A run that calls has begun, and that is told first.
  private mutating func answering(_ run: RunID, isGraced: Bool, at now: Moment) -> Answering {
    begin(run, at: now)
    tellBegins()
    if let entry = runs[run], entry.isSent { return .serve(entry.reference) }
    // A run that expired and has ended, as long as its grace would have lasted.
    if isGraced, let last = graced[run], now.time < last.end { return .serve(last.reference) }
    return .refuse(.stale)
  }

  // MARK: Its lines

  /// A line about lines that were dropped, if there were any.
  mutating func tell(dropped: UInt64, at now: Moment) {
    guard dropped > 0 else { return }
    output(LogLine(time: now.calendar, level: .warning, message: "\(dropped) log lines were dropped: too many at once"))
  }

  /// A line that no run is named for is the run's that is alone.
  mutating func output(_ line: LogLine) {
    if runs.count == 1, let run = order.first, let entry = runs[run], entry.isSent {
      runs[run]?.note(line)
      tell(.log(entry.reference, line))
    } else if let identifier = sortedIdentifiers.first ?? spec.identifier {
      tell(.output(identifier, line))
    } else {
      effects.append(.log(line))
    }
  }

  /// Whether these are the ends of all that runs: what the process has written by then is that run's.
  func isLast(_ endings: [WireEnding]) -> Bool {
    if case .killed(.violation) = phase { return false }
    return endings.count == 1 && runs.count == 1 && runs[endings[0].run]?.isSent == true
  }

  var sortedIdentifiers: [TaskIdentifier] { contracts.keys.sorted { $0.rawValue < $1.rawValue } }
}
