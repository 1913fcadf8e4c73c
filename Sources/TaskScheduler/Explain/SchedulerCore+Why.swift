import SchedulingLimits
import TaskModel

extension SchedulerCore {
  /// A sentence for each gate that holds a request now; empty if the request starts at the next turn.
  func gates(of record: RequestRecord, now: WallTime) -> [String] { explanation(of: record, now: now).gates.map(\.sentence) }

  /// Explains why a request is not running now: what holds it, since when, until when, and what would change it.
  ///
  /// The end of a gate applies to the first request in line; ``ForecastBasis/complete(_:of:queue:)`` computes it for this request.
  ///
  /// - Parameters:
  ///   - obstacle: Why a dead letter cannot be retried by itself; nil if it can.
  ///   - lastEnded: When its last run ended; nil if it has not run, or if not known.
  func explanation(
    of record: RequestRecord, edges: [DependencyRecord] = [], obstacle: RetryObstacle? = nil, lastEnded: WallTime? = nil, now: WallTime
  ) -> RequestExplanation {
    var gates: [Gate] = []
    switch record.state {
    case .succeeded, .failed, .cancelled:
      let message = record.state == .failed ? record.lastMessage.map { ": \($0)" } ?? "" : ""
      let sentence = "it \(Self.ending(record.state))\(message)"
      gates = [Gate(kind: "ended", sentence: sentence, since: record.ended, remedy: remedy(for: record, obstacle))]
    case .running:
      let sentence = record.stopRequested.map { "it is running and was asked to stop: \($0.rawValue)" } ?? "it is running"
      gates = [Gate(kind: "running", sentence: sentence, since: record.started, heldBy: record.run.map { [$0.description] } ?? [])]
    case .blocked, .pending, .claimed:
      gates = waitingGates(of: record, edges: edges, lastEnded: lastEnded, now: now)
    }
    var explanation = RequestExplanation(
      id: record.id, gates: gates, earliestStart: earliest(gates, record, now: now), wouldRunIf: gates.compactMap(\.remedy))
    if !record.state.isFinal { explanation.expectations = expectations(of: record, now: now) }
    if record.gates.wakes, !record.state.isFinal, record.state != .running, let wakeTrouble {
      explanation.assumptions.append("the machine is awake then: \(wakeTrouble)")
    }
    return explanation
  }

  /// What makes an ended request live again; nil if nothing does.
  private func remedy(for record: RequestRecord, _ obstacle: RetryObstacle?) -> String? {
    guard record.state == .failed else { return nil }
    guard let obstacle else { return RetryObstacle.command(for: record.id) }
    return obstacle.command ?? "\(obstacle.predecessor) and \(record.id) are submitted again"
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

  private func waitingGates(of record: RequestRecord, edges: [DependencyRecord], lastEnded: WallTime?, now: WallTime) -> [Gate] {
    var gates: [Gate] = []
    let open = edges.filter { $0.ended == nil }.map(\.predecessor)
    let predecessors = open.isEmpty ? record.blockedBy.map { [$0] } ?? [] : open
    for predecessor in predecessors {
      gates.append(
        Gate(
          kind: "predecessor", sentence: "it waits for a run of \(predecessor) to end", since: record.submitted,
          heldBy: [predecessor.description], remedy: "\(predecessor) ends: see taskhost tasks why \(predecessor)"))
    }
    if let gate = timeGate(of: record, lastEnded: lastEnded, now: self.now(for: record.id, now)) { gates.append(gate) }
    let identifier = record.request.identifier
    guard let handler = handlers[identifier] else {
      guard !policy.awaitingApproval.contains(identifier) else {
        return gates + [
          Gate(
            kind: "approval", sentence: "its plugin waits for approval of what it may do", since: max(record.submitted, begun),
            remedy: "taskhost plugins approve \(identifier)")
        ]
      }
      return gates + [
        Gate(
          kind: "no_handler", sentence: "no plugin has registered \(identifier)", since: max(record.submitted, begun),
          remedy: "a plugin that registers \(identifier) is installed in a plugin directory and the host is restarted")
      ]
    }
    let lane = handler.lanes[record.gates] ?? LaneState(gates: record.gates)
    // Future slots and conditions are unknown: name what holds the request now, and when that ends.
    gates += pauses.holding(record, now: now).map { Self.gate($0, now: now) }
    for hold in closedGates(on: lane, of: handler, now: now) where hold.gate != .pause {
      gates.append(gate(hold, lane, handler, record, now: now))
    }
    if isDraining {
      gates.append(Gate(kind: "draining", sentence: "the host is draining", since: drainingSince, remedy: "the host is restarted"))
    }
    if let storeTrouble {
      let sentence = "the store has failed: \(storeTrouble)"
      gates.append(Gate(kind: "store", sentence: sentence, since: storeTroubleSince, remedy: "the store can be written again"))
    }
    return gates
  }

  /// The closed gates of a lane, each kind only once, although several rates may hold it.
  private func closedGates(on lane: LaneState, of handler: HandlerState, now: WallTime) -> [Hold] {
    holds(on: lane, of: handler, now: now).reduce(into: []) { merged, hold in
      guard let index = merged.firstIndex(where: { $0.gate == hold.gate }) else { return merged.append(hold) }
      guard let until = merged[index].until, let other = hold.until else { return merged[index].until = nil }
      merged[index].until = max(until, other)
    }
  }

  /// The limit that holds a lane although nothing else does; of several, the one that does so longest.
  func throttle(of lane: LaneState, _ handler: HandlerState, now: WallTime) -> Gate? {
    let holds = closedGates(on: lane, of: handler, now: now)
    let throttles: Set<GateKind> = [.idleStage, .rate, .quota]
    let longest = holds.max { ($0.until ?? .distantFuture) < ($1.until ?? .distantFuture) }
    guard let hold = longest, holds.allSatisfy({ throttles.contains($0.gate) }) else { return nil }
    return gate(hold, lane, handler, nil, now: now)
  }

  /// What holds a lane on this host, in a sentence; nil if nothing does.
  func obstacle(of lane: Lane, now: WallTime) -> String? {
    guard !isDraining else { return "it is draining" }
    guard storeTrouble == nil else { return "its store has failed" }
    guard let handler = handlers[lane.identifier] else { return "no plugin has registered \(lane.identifier)" }
    let state = handler.lanes[lane.gates] ?? LaneState(gates: lane.gates)
    let gates = closedGates(on: state, of: handler, now: now).map { gate($0, state, handler, nil, now: now).sentence }
    return gates.isEmpty ? nil : gates.joined(separator: "; ")
  }

  private func timeGate(of record: RequestRecord, lastEnded: WallTime?, now: WallTime) -> Gate? {
    guard record.state != .blocked || record.due > now else { return nil }
    let since = lastEnded ?? record.submitted
    if record.due == .distantFuture {
      let sentence = record.request.event.map { event in
        event.path.map { "it waits for a change of \($0)" } ?? "it waits for the event \(event.name)"
      }
      let remedy = record.request.event.map { $0.path == nil ? "taskhost notify \($0.name)" : "the file is changed" }
      return Gate(kind: "event", sentence: sentence ?? "the next time of its schedule is unknown", since: since, remedy: remedy)
    }
    // A due request that waits to share a wake-up is not held.
    guard record.due > now else { return nil }
    let wait = Self.text(record.due - now)
    if !record.isInBackoff, let quota = policy.eventQuota, isHeldByEventQuota(record, now: now) {
      return Gate(
        kind: "event_quota",
        sentence: "events have woken \(record.request.identifier) as often as event_quota (\(quota)) allows: due in \(wait)",
        since: record.eventSince ?? since, until: record.due, remedy: "event_quota is raised")
    }
    let offset = offset(of: record)
    let jitter = offset > .zero ? ", \(Self.text(offset)) later than its time because of its jitter" : ""
    let file = awaitedRetries.path(of: record.id).map { ", unless \($0) changes" } ?? ""
    let (kind, sentence) =
      record.isInBackoff
      ? ("backoff", "backoff after attempt \(record.attemptsSpent): not for another \(wait)\(file)")
      : ("time", "not before its time: due in \(wait)\(jitter)")
    return Gate(kind: kind, sentence: sentence, since: since, until: record.due)
  }

  /// Whether a request that an event has woken starts later than its own debounce and time say, because of the quota.
  private func isHeldByEventQuota(_ record: RequestRecord, now: WallTime) -> Bool {
    guard let trigger = record.request.event, let since = record.eventSince else { return false }
    let own = max(since + trigger.debounce * Debounce.mostWaits, record.request.earliestBegin ?? since)
    return record.due > own && limits.holdsWakes(of: record.request.identifier, at: now)
  }

  private func gate(_ hold: Hold, _ lane: LaneState, _ handler: HandlerState, _ record: RequestRecord?, now: WallTime) -> Gate {
    let identifier = handler.contract.identifier
    var gate = Gate(kind: hold.gate.rawValue, sentence: "", until: hold.until)
    switch hold.gate {
    case .paused:
      gate.sentence = "it is paused by \(record?.paused?.by ?? "somebody")" + (record?.paused?.reason.map { ": \($0)" } ?? "")
      gate.since = record?.paused?.since
      if record?.paused?.isParked != true { gate.remedy = record.map { "taskhost transfers resume \($0.id)" } ?? "it is resumed" }
    case .pause:
      gate.sentence = "its work is paused"
      gate.remedy = "taskhost resume"
    case .health:
      gate.sentence = self.gate(of: identifier, now: now) ?? "the plugin is held back"
      gate.since = pluginHealth[identifier].flatMap(struckAt)
      gate.remedy = "taskhost plugins release \(identifier)"
    case .suspended:
      gate.sentence = "the plugin is suspended: \(handler.suspension ?? "")"
      gate.since = handler.suspendedSince
      gate.remedy = "the overdue thread returns, or the host is restarted"
    case .shortage:
      gate.sentence = "the host could not begin its runs: \(handler.shortage?.sentence ?? "something is missing")"
      gate.since = handler.shortage?.since
      gate.remedy =
        switch handler.shortage?.cause {
        case .resources, nil: "the host has threads, descriptors and memory again"
        case .paths: "its paths are what they were when the host launched"
        case .worker: "taskhost-worker starts again"
        }
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
    case .conditions: describe(&gate, lane, record, now: now)
    case .window:
      let name = lane.gates.window ?? ""
      gate.sentence = "the maintenance window \(name) is closed: \(windows.description(of: name))"
      gate.since = windows.closedSince(name, now: now) ?? max(record?.submitted ?? begun, begun)
      lift(&gate, at: record?.deadlineToCome, now: now)
    case .idleStage:
      guard let state = idleState(for: lane, of: handler, now: now), let start = conditions?.restingSince else { break }
      gate.sentence =
        "the machine has been idle on battery for \(Self.text(now - start)) (idle stage \(state.stage.rawValue)): "
        + "its work waits for a maintenance window"
      gate.since = start
      gate.remedy = "external power is attached, or the machine is used: see taskhost conditions show"
      lift(&gate, at: record?.deadlineToCome, now: now)
    case .key, .resource, .rate, .quota:
      let live = liveStarts(of: identifier)
      gate.sentence = limits.sentence(hold.gate, lane: lane, identifier, live: live, now: now) ?? hold.gate.rawValue
      let holders = holders(of: hold.gate, lane, identifier)
      gate.heldBy = holders.map(\.run.description)
      gate.since = holders.map(\.started).max() ?? limits.closedSince(hold.gate, lane: lane, identifier, live: live, now: now)
      gate.remedy = hold.gate == .key || hold.gate == .resource ? "one of those runs ends" : "rate_limit is raised"
      if hold.gate == .quota {
        gate.remedy = limits.remedy(ofQuotaOf: identifier)
        lift(&gate, at: record?.deadlineToCome, now: now)
      }
    }
    return gate
  }

  /// What a pause says of the requests that it holds.
  private static func gate(_ pause: Pause, now: WallTime) -> Gate {
    var gate = Gate(
      kind: GateKind.pause.rawValue, sentence: pause.sentence(at: now), since: pause.since,
      until: pause.order.until, remedy: pause.remedy)
    gate.isOfFleet = pause.order.isOfFleet
    return gate
  }

  /// The time of the failure for which a plugin is held.
  private func struckAt(_ health: PluginHealth) -> WallTime? {
    health.quarantinedSince
      ?? health.heldUntil.map { $0 + (.zero - PluginHealth.delay(afterStrike: health.failures, retry: policy.retry)) }
  }

  /// Makes the gate open at the request's deadline, unless it opens earlier.
  private func lift(_ gate: inout Gate, at deadline: WallTime?, now: WallTime) {
    guard let deadline, deadline < gate.until ?? .distantFuture else { return }
    gate.until = max(deadline, now)
    gate.sentence += "; after its deadline, in \(Self.text(deadline - now)), this no longer counts"
  }

  private func describe(_ gate: inout Gate, _ lane: LaneState, _ record: RequestRecord?, now: WallTime) {
    let unmet = conditions.map { lane.gates.conditions.subtracting($0.held) } ?? []
    var sentences: [String] = []
    // When all conditions may hold, and when those that a deadline does not lift may hold.
    var (until, lasting) = (now, now)
    for name in unmet.names {
      guard let condition = Conditions(name: name), let state = conditions?[condition] else { continue }
      let isRead = state.isWatched || state.isOverridden
      let flaw = isRead ? "does not hold: \(state.observed)" : "is not known yet: it is observed while a request that is due waits for it"
      sentences.append("\(name) \(flaw)")
      gate.since = max(gate.since ?? state.since, state.since)
      // A condition that is not observed now will be observed once the request is due; it may hold then.
      let opens = state.settlesAt ?? (!state.isWatched ? record.flatMap { $0.due > now ? $0.due : nil } : nil) ?? .distantFuture
      until = max(until, opens)
      if RunConstraints.lasting.contains(condition) { lasting = max(lasting, opens) }
    }
    gate.until = until < .distantFuture ? until : nil
    gate.sentence = sentences.joined(separator: "; ")
    gate.remedy = "\(unmet.names.joined(separator: " and ")) \(unmet.names.count == 1 ? "holds" : "hold"): see taskhost conditions show"
    guard let deadline = record?.deadlineToCome, lasting < .distantFuture else { return }
    lift(&gate, at: max(deadline, lasting), now: now)
  }

  private func holders(of gate: GateKind, _ lane: LaneState, _ identifier: TaskIdentifier) -> [LiveRunEntry] {
    let wanted = limits.tokens(lane.gates, identifier)
    return live.values.filter { entry in
      switch gate {
      case .key: entry.identifier == identifier && entry.gates.concurrencyKey == lane.gates.concurrencyKey
      case .resource: !Set(limits.tokens(entry.gates, entry.identifier).keys).isDisjoint(with: wanted.keys)
      default: false
      }
    }.sorted { $0.run < $1.run }
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

extension RequestRecord {
  /// The deadline if it is still to come.
  fileprivate var deadlineToCome: WallTime? { isRelaxed ? nil : request.deadline }
}
