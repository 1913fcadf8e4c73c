import TaskModel

/// Runs and the launch after the process has ended or could not start.
extension WorkerMachine {
  /// Ends the runs of a process that has ended. Runs that had not begun are given back.
  mutating func settle(_ last: Present, _ end: WorkerEnd, _ mayHaveBegun: (RunID, UInt64) -> Bool, at now: Moment) {
    if case .launching = phase { return failLaunch(last, end, at: now) }
    // The run that it crashed in had begun, whatever the host knows.
    if let named = end.crash?.run { begin(named, at: now) }
    let sent = order.filter { runs[$0]?.isSent ?? false }
    let begun = runsThatBegan(sent, mayHaveBegun)
    untold.removeAll { !begun.contains($0) }
    tellBegins()
    settle(begun, last, end, at: now)
    for run in sent where remove(run, at: now) != nil { tell(.withdrawn(run)) }
    untold.removeAll()
  }

  /// The runs that have begun, among those that count as running: the process may have died between a free slot and the handler's call. If
  /// it reports that none had begun, all count, because some run caused its end.
  private func runsThatBegan(_ sent: [RunID], _ mayHaveBegun: (RunID, UInt64) -> Bool) -> [RunID] {
    let counted = sent.filter { runs[$0]?.began != nil }
    var forced: Set<RunID> = []
    if case .killed(.force(let reasons)) = phase { forced = Set(reasons.keys) }
    let known = counted.filter { forced.contains($0) || mayHaveBegun($0, runs[$0]?.begunBefore ?? 0) }
    return known.isEmpty ? counted : known
  }

  private mutating func settle(_ begun: [RunID], _ last: Present, _ end: WorkerEnd, at now: Moment) {
    switch phase {
    case .killed(.force(let forced)):
      endRuns(begun, last, end, at: now) { run, report in
        if let reason = forced[run] {
          report.forced = true
          report.stopReason = reason
          report.stopStage = .killed
          return .forced(reason)
        }
        report.message = "its worker was killed because another of its runs did not stop in its grace"
        return .lost
      }
    case .killed(.violation(let what)) where !last.conduct.hasLaunched:
      fail(LaunchFailure(step: .crashed, observed: "its worker was killed: \(what)"), last, at: now)
    case .killed(.violation(let what)) where begun.isEmpty:
      guard let identifier = sortedIdentifiers.first ?? spec.identifier else { break }
      tell(.misbehaved(identifier, "its worker was killed: \(what)", incident: last.incident))
    case .killed(.violation(let what)):
      endRuns(begun, last, end, at: now) { _, report in
        report.message = "its worker was killed: \(what)"
        return .crashed
      }
    case .killed(.launchOverdue):
      let budget = spec.launchBudget.wholeMilliseconds
      fail(LaunchFailure(step: .timeout, observed: "it did not answer within the launch budget of \(budget) ms"), last, at: now)
    case .killed(.hostEnds): fail(Self.hostEnded, last, at: now)
    case .killed(.launchFailed), .killed(.shutdownOverdue), .stopping, .none, .spawning, .launching:
      endRuns(begun, last, end, at: now) { _, report in
        report.message = "its worker ended before it"
        return .lost
      }
    case .serving, .idle:
      guard end.isBy(leaseEnd: toldLeaseEnd) else { return crash(begun, last, end, at: now) }
      endRuns(begun, last, end, at: now) { _, report in
        report.message = "its worker was \(Self.killedWithLease)"
        return .lost
      }
    }
  }

  /// The run that the crash cell names has crashed, and the others are lost. If it names none, all runs that had begun have crashed.
  private mutating func crash(_ begun: [RunID], _ last: Present, _ end: WorkerEnd, at now: Moment) {
    let named = end.crash?.run.flatMap { begun.contains($0) ? $0 : nil }
    endRuns(begun, last, end, at: now) { run, report in
      if run == named || named == nil {
        report.message = "its worker \(end.observed)"
        report.trouble = end.crash?.text ?? end.observed
        return .crashed
      }
      report.message = "its worker \(end.observed) in another run"
      return .lost
    }
  }

  private mutating func endRuns(
    _ begun: [RunID], _ last: Present, _ end: WorkerEnd, at now: Moment, _ judge: (RunID, inout RunReport) -> RunEnding
  ) {
    // Judge all runs before removing any.
    for id in begun {
      guard let entry = runs[id] else { continue }
      var report = entry.report(end, isAlone: begun.count == 1, at: now.time)
      report.incident = last.incident
      report.trouble = entry.stuck
      let ending = judge(id, &report)
      tell(.ended(id, ending, report))
    }
    for id in begun { _ = remove(id, at: now) }
  }

  private static let killedWithLease = "killed, as all runs of its host in the fleet: the host's lease had ended"

  // MARK: No process

  private mutating func failLaunch(_ last: Present, _ end: WorkerEnd, at now: Moment) {
    if end.isGivenUp, !last.conduct.isConfined {
      return fail(LaunchFailure(step: .load, observed: "its worker could not begin: see the lines above"), lacking: .worker, at: now)
    }
    if end.isBy(leaseEnd: toldLeaseEnd) {
      // The runs that waited for it have not begun, and are others' by now.
      finishLaunch(.failure(LaunchFailure(step: .load, observed: "its worker was \(Self.killedWithLease)")))
      for run in order where remove(run, at: now) != nil { tell(.withdrawn(run)) }
      return
    }
    var observed = "its worker \(end.observed) while it was loaded or launched"
    if let stack = end.crash?.stack.split(separator: "\n").first { observed += ", at \(stack)" }
    fail(LaunchFailure(step: .crashed, observed: observed), last, at: now)
  }

  /// The host could not start a process: fails the launch and gives the waiting runs back. This does not count against the plugin.
  mutating func fail(_ failure: LaunchFailure, lacking cause: ShortageCause, at now: Moment) {
    finishLaunch(.failure(failure))
    isShort = true
    for identifier in sortedIdentifiers { tell(.shortage(identifier, Self.message(failure), cause)) }
    for run in order where remove(run, at: now) != nil { tell(.withdrawn(run)) }
  }

  /// The plugin failed to launch: fails the launch, and the waiting runs as crashed.
  mutating func fail(_ failure: LaunchFailure, _ last: Present, at now: Moment) {
    finishLaunch(.failure(failure))
    for run in order {
      guard let entry = remove(run, at: now) else { continue }
      var report = entry.report(nil, isAlone: false, at: now.time)
      report.message = Self.message(failure)
      report.incident = last.incident
      tell(.ended(run, .crashed, report))
    }
  }

  static let hostEnded = LaunchFailure(step: .timeout, observed: "the host ended meanwhile")

  private static func message(_ failure: LaunchFailure) -> String { "its worker could not be started: \(failure.observed)" }

  mutating func finishLaunch(_ outcome: Result<PluginWorker.Launch, LaunchFailure>) {
    guard launchOutcome == nil else { return }
    launchOutcome = outcome
    effects.append(.rouse)
  }
}
