import HostThreads
import TaskModel

/// The end of its process, and its deadlines; on the loop's thread.
extension PluginWorker: WorkerEventLoop.Sleeper {
  func ended(_ process: WorkerProcess, _ end: WorkerEnd) {
    var events = told(dropped: monitor.locked { conduct.takeAllDropped() })
    monitor.locked {
      events += settle(process, end)
      startDeadline = .distantFuture
      idleDeadline = .distantFuture
      stopDeadline = .distantFuture
      phase = .none
      if !runs.isEmpty, !isClosing { begin() }
      monitor.broadcast()
    }
    for event in events { surroundings.sink(event) }
  }

  /// With the lock held: what becomes of the runs that the process had. Those that had not begun are given back.
  private func settle(_ process: WorkerProcess, _ end: WorkerEnd) -> [LauncherEvent] {
    if case .starting = phase { return failedLaunch(process, end) }
    // It crashed in a run: that had begun, whatever its host knows.
    if let named = end.crash?.run, runs[named]?.isSent == true { begin(named, at: SystemClock.now) }
    let sent = order.filter { runs[$0]?.isSent ?? false }
    let begun = runsThatBegan(sent, in: process)
    let told = begins().filter { if case .began(let run) = $0 { begun.contains(run) } else { true } }
    let events = told + settle(begun, process, end)
    let now = SystemClock.now
    return events + sent.compactMap { id in runs[id]?.isSent == true ? remove(id, at: now).map { _ in .withdrawn(id) } : nil }
  }

  /// Those that have begun, of what counts as running: a place that is free is not yet a handler that is called, and the process may have died
  /// in between. Where it says that none has begun, all count: its end is somebody's doing.
  private func runsThatBegan(_ sent: [RunID], in process: WorkerProcess) -> [RunID] {
    let counted = sent.filter { runs[$0]?.began != nil }
    var forced: Set<RunID> = []
    if case .killed(_, .force(let reasons)) = phase { forced = Set(reasons.keys) }
    let known = counted.filter { forced.contains($0) || process.mayHaveBegun($0, since: runs[$0]?.begunBefore ?? 0) }
    return known.isEmpty ? counted : known
  }

  private func settle(_ sent: [RunID], _ process: WorkerProcess, _ end: WorkerEnd) -> [LauncherEvent] {
    switch phase {
    case .killed(_, .force(let forced)):
      return endSent(sent, process, end) { run, report in
        if let reason = forced[run] {
          report.forced = true
          report.stopReason = reason
          report.stopStage = .killed
          return .forced(reason)
        }
        report.message = "its worker was killed because another of its runs did not stop in its grace"
        return .lost
      }
    case .killed(_, .violation(let what)) where !conduct.hasLaunched:
      return fail(LaunchFailure(step: .crashed, observed: "its worker was killed: \(what)"), incident: process.number)
    case .killed(_, .violation(let what)) where sent.isEmpty:
      guard let identifier = contracts.keys.min() ?? spec.identifier else { return [] }
      return [.misbehaved(identifier, "its worker was killed: \(what)", incident: process.number)]
    case .killed(_, .violation(let what)):
      return endSent(sent, process, end) { _, report in
        report.message = "its worker was killed: \(what)"
        return .crashed
      }
    case .starting, .spawning:
      return failedLaunch(process, end)
    case .killed(_, .overdue):
      return startDeadline != .distantFuture ? timedOut(process) : endLost(sent, process, end)
    case .none, .stopping: return endLost(sent, process, end)
    case .ready: return endCrashed(sent, process, end)
    }
  }

  /// The run that the crash cell names has crashed and the others are lost; where it names none, all that had begun have crashed.
  private func endCrashed(_ sent: [RunID], _ process: WorkerProcess, _ end: WorkerEnd) -> [LauncherEvent] {
    let named = end.crash?.run.flatMap { sent.contains($0) ? $0 : nil }
    return endSent(sent, process, end) { run, report in
      if run == named || named == nil {
        report.message = "its worker \(end.observed)"
        report.trouble = end.crash?.text ?? end.observed
        return .crashed
      }
      report.message = "its worker \(end.observed) in another run"
      return .lost
    }
  }

  private func endLost(_ sent: [RunID], _ process: WorkerProcess, _ end: WorkerEnd) -> [LauncherEvent] {
    endSent(sent, process, end) { _, report in
      report.message = "its worker ended before it"
      return .lost
    }
  }

  private func endSent(
    _ sent: [RunID], _ process: WorkerProcess, _ end: WorkerEnd, _ judge: (RunID, inout RunReport) -> RunEnding
  ) -> [LauncherEvent] {
    let now = SystemClock.now
    let isAlone = sent.count == 1
    // All are judged by what was so when the process ended.
    let judged = sent.compactMap { id -> (RunID, RunEnding, RunReport)? in
      guard let entry = runs[id] else { return nil }
      var report = entry.report(end, isAlone: isAlone)
      report.incident = process.number
      report.trouble = entry.stuck
      let ending = judge(id, &report)
      return (id, ending, report)
    }
    for id in sent { _ = remove(id, at: now) }
    return judged.map { .ended($0.0, $0.1, $0.2) }
  }

  private func failedLaunch(_ process: WorkerProcess, _ end: WorkerEnd) -> [LauncherEvent] {
    if end.isGivenUp {
      return fail(LaunchFailure(step: .load, observed: "its worker could not begin: see the lines above"), lacking: .worker)
    }
    var observed = "its worker \(end.observed) while it was loaded or launched"
    if let stack = end.crash?.stack.split(separator: "\n").first { observed += ", at \(stack)" }
    return fail(LaunchFailure(step: .crashed, observed: observed), incident: process.number)
  }

  private func timedOut(_ process: WorkerProcess) -> [LauncherEvent] {
    fail(
      LaunchFailure(
        step: .timeout,
        observed: isClosing
          ? "the host ended meanwhile" : "it did not answer within the launch budget of \(spec.launchBudget.wholeMilliseconds) ms"),
      incident: process.number)
  }

  // MARK: Deadlines

  func due(at now: MonotonicTime) -> MonotonicTime {
    monitor.locked {
      switch phase {
      case .none, .spawning, .killed: return .distantFuture
      case .starting(let process):
        guard now >= startDeadline else { return startDeadline }
        phase = .killed(process, .overdue)
        process.kill()
        return .distantFuture
      case .stopping(let process):
        guard now >= stopDeadline else { return stopDeadline }
        phase = .killed(process, .overdue)
        process.kill()
        return .distantFuture
      case .ready(let process): return dueWhileReady(process, now)
      }
    }
  }

  private func dueWhileReady(_ process: WorkerProcess, _ now: MonotonicTime) -> MonotonicTime {
    if runs.isEmpty {
      guard now >= idleDeadline else { return idleDeadline }
      stop(process)
      return stopDeadline
    }
    var next = MonotonicTime.distantFuture
    if let blocked = process.isBlockedSince {
      guard now < blocked + Self.readLimit else {
        kill(process, violation: "it does not read what it is sent")
        return .distantFuture
      }
      next = blocked + Self.readLimit
    }
    for (id, entry) in runs {
      if let asked = entry.askedBack {
        guard now < asked + Self.answerLimit else {
          kill(process, violation: "it does not say whether runs that it was asked for have begun")
          return .distantFuture
        }
        next = min(next, asked + Self.answerLimit)
      }
      if now >= entry.forceAt { kill(forcing: id, reason: entry.reasonForForce) } else { next = min(next, entry.forceAt) }
    }
    return next
  }
}
