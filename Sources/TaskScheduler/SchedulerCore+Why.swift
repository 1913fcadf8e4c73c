import TaskModel

extension SchedulerCore {
  /// Every gate that holds a request now, a sentence each; none: it starts as soon as the scheduler turns.
  func gates(of record: RequestRecord, now: WallTime) -> [String] { explanation(of: record, now: now).gates.map(\.sentence) }

  /// Why a request is not running now, who holds it, until when, and what would change it.
  func explanation(of record: RequestRecord, edges: [DependencyRecord] = [], now: WallTime) -> RequestExplanation {
    var gates: [Gate] = []
    switch record.state {
    case .succeeded, .failed, .cancelled:
      let remedy = record.state == .failed ? "taskhost tasks retry \(record.id)" : nil
      gates = [Gate(kind: "ended", sentence: "it has ended: \(record.state.rawValue)", since: record.ended, remedy: remedy)]
    case .running:
      let sentence = record.stopRequested.map { "it is running and was asked to stop: \($0.rawValue)" } ?? "it is running"
      gates = [Gate(kind: "running", sentence: sentence, since: record.started, heldBy: record.run.map { [$0.description] } ?? [])]
    case .blocked, .pending, .claimed:
      gates = waitingGates(of: record, edges: edges, now: now)
    }
    return RequestExplanation(
      id: record.id, gates: gates, earliestStart: earliest(gates, record, now: now), wouldRunIf: gates.compactMap(\.remedy))
  }

  private func earliest(_ gates: [Gate], _ record: RequestRecord, now: WallTime) -> WallTime? {
    guard !record.state.isFinal, record.state != .running else { return nil }
    var earliest = now
    for gate in gates {
      guard let until = gate.until else { return nil }
      earliest = max(earliest, until)
    }
    return earliest
  }

  private func waitingGates(of record: RequestRecord, edges: [DependencyRecord], now: WallTime) -> [Gate] {
    var gates: [Gate] = []
    let open = edges.filter { $0.ended == nil }.map(\.predecessor)
    let predecessors = open.isEmpty ? record.blockedBy.map { [$0] } ?? [] : open
    for predecessor in predecessors {
      gates.append(
        Gate(
          kind: "predecessor", sentence: "it waits for a run of \(predecessor) to end", since: record.submitted,
          heldBy: [predecessor.description], remedy: "\(predecessor) ends: see taskhost tasks why \(predecessor)"))
    }
    if let gate = timeGate(of: record, now: now) { gates.append(gate) }
    let identifier = record.request.identifier
    guard let handler = handlers[identifier] else {
      return gates + [
        Gate(
          kind: "no_handler", sentence: "no plugin has registered \(identifier)", since: record.submitted,
          remedy: "a plugin that registers \(identifier) is put into a plugin directory and the host is started again")
      ]
    }
    let lane = handler.lanes[record.gates] ?? LaneState(gates: record.gates)
    // The slots and the conditions of a moment to come are not known: what holds it now is said, with when that ends.
    for hold in holds(on: lane, of: handler, now: now) { gates.append(gate(hold, lane, handler, record, now: now)) }
    if isDraining { gates.append(Gate(kind: "draining", sentence: "the host is draining", remedy: "the host is started again")) }
    if let storeTrouble {
      gates.append(Gate(kind: "store", sentence: "the store does not work: \(storeTrouble)", remedy: "the store can be written again"))
    }
    return gates
  }

  private func timeGate(of record: RequestRecord, now: WallTime) -> Gate? {
    guard record.state != .blocked || record.due > now else { return nil }
    if record.due == .distantFuture {
      let sentence = record.request.event.map { event in
        event.path.map { "it waits for a change of \($0)" } ?? "it waits for the event \(event.name)"
      }
      let remedy = record.request.event.map { $0.path == nil ? "taskhost notify \($0.name)" : "the file is changed" }
      return Gate(kind: "event", sentence: sentence ?? "its schedule names no time that can be found", since: record.ended, remedy: remedy)
    }
    guard record.due > now else {
      // Due, but its wake-up may be shared until its flex is over.
      return nil
    }
    let wait = Self.text(record.due - now)
    let isBackoff = record.lastOutcome == .retried || record.lastOutcome == .expired || record.lastOutcome == .crashed
    return isBackoff
      ? Gate(kind: "backoff", sentence: "backoff after attempt \(record.attemptsSpent): not for another \(wait)", until: record.due)
      : Gate(kind: "time", sentence: "not before its time: due in \(wait)", since: record.submitted, until: record.due)
  }

  private func gate(_ hold: Hold, _ lane: LaneState, _ handler: HandlerState, _ record: RequestRecord, now: WallTime) -> Gate {
    let identifier = handler.contract.identifier
    var gate = Gate(kind: hold.gate.rawValue, sentence: "", until: hold.until)
    switch hold.gate {
    case .standing:
      gate.sentence = self.gate(of: identifier, now: now) ?? "the plugin is held back"
      gate.since = standings[identifier]?.quarantinedSince
      gate.remedy = "taskhost plugins release \(identifier)"
    case .suspended:
      gate.sentence = "the plugin is suspended: \(handler.suspension ?? "")"
      gate.remedy = "the thread that overran returns, or the host is started again"
    case .shortage:
      gate.sentence = "the host could not begin its runs: \(handler.shortage?.sentence ?? "it is short of something")"
      gate.since = handler.shortage?.since
      gate.remedy = "the host has threads, descriptors and memory again"
    case .plugin:
      let runs = live.values.filter { $0.identifier == identifier }.sorted { $0.run < $1.run }
      gate.heldBy = runs.map(\.run.description)
      gate.sentence =
        "the plugin is busy: \(handler.running) of \(handler.contract.maxConcurrentRuns) runs, \(gate.heldBy.joined(separator: ", "))"
      gate.since = runs.map(\.started).max()
      gate.remedy = "one of its runs ends, or max_concurrent_runs of the plugin is raised"
    case .host:
      gate.sentence = "all \(policy.maxConcurrentRuns) run slots of the host are taken"
      gate.heldBy = live.keys.sorted().prefix(100).map(\.description)
      gate.since = live.values.map(\.started).max()
      gate.remedy = "a run ends, or max_concurrent_runs is raised"
    case .conditions: describe(&gate, lane)
    case .window:
      let name = lane.gates.window ?? ""
      gate.sentence = "the maintenance window \(name) is closed: \(windows.description(of: name))"
    case .key, .resource, .rate, .quota:
      gate.sentence =
        limits.sentence(hold.gate, lane: lane, identifier, live: liveStarts(of: identifier), now: now) ?? hold.gate.rawValue
      gate.heldBy = holders(of: hold.gate, lane, identifier).map(\.description)
      gate.remedy = hold.gate == .key || hold.gate == .resource ? "one of those runs ends" : nil
    }
    return gate
  }

  private func describe(_ gate: inout Gate, _ lane: LaneState) {
    let unmet = conditions.map { lane.gates.conditions.subtracting($0.held) } ?? []
    var sentences: [String] = []
    for name in unmet.names {
      guard let condition = Conditions(name: name), let state = conditions?[condition] else { continue }
      sentences.append("\(name) does not hold: \(state.observed)")
      gate.since = max(gate.since ?? state.since, state.since)
      if let settles = state.settlesAt { gate.until = max(gate.until ?? settles, settles) }
    }
    gate.sentence = sentences.joined(separator: "; ")
    gate.remedy = "\(unmet.names.joined(separator: " and ")) \(unmet.names.count == 1 ? "holds" : "hold"): see taskhost conditions show"
  }

  /// The runs that hold a limit.
  private func holders(of gate: GateKind, _ lane: LaneState, _ identifier: TaskIdentifier) -> [RunID] {
    let wanted = limits.tokens(lane.gates, identifier)
    return live.values.filter { entry in
      switch gate {
      case .key: entry.identifier == identifier && entry.gates.concurrencyKey == lane.gates.concurrencyKey
      case .resource: !Set(limits.tokens(entry.gates, entry.identifier).keys).isDisjoint(with: wanted.keys)
      default: false
      }
    }.map(\.run).sorted()
  }

  static func text(_ duration: Duration) -> String {
    let seconds = max(0, (duration + .milliseconds(999)).wholeMilliseconds) / 1000
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) d"
    }
  }
}
