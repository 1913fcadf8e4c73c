import TaskModel

extension SchedulerCore {
  /// Takes over what the store knows of the plugins' standing.
  func load(_ known: [TaskIdentifier: Standing], now: WallTime) {
    let longest = Standing.delay(afterStrike: Standing.strikesToQuarantine, retry: policy.retry)
    for (identifier, var standing) in known {
      // A calendar that was set back since would hold it for longer than ever meant.
      if let until = standing.heldUntil { standing.heldUntil = min(until, now + longest) }
      keep(standing, of: identifier)
    }
  }

  /// What a run's end means to its plugin: crashes and forced stops count against it, a good run clears it.
  func judge(_ entry: LiveRunEntry, _ ending: RunEnding, _ report: RunReport, _ transaction: any StoreTransaction, now: WallTime) throws {
    let identifier = entry.identifier
    switch ending {
    case .crashed: try strike(identifier, Self.sentence("it crashed", report), report.incident, transaction, now: now)
    case .forced(let reason) where reason != .cancelled && reason != .replaced:
      let what = "a run was stopped by force (\(reason.rawValue))"
      try strike(identifier, Self.sentence(what, report), report.incident, transaction, now: now)
    case .returned(.success, _), .returned(.noop, _): try absolve(entry, transaction)
    case .returned, .forced, .lost: break
    }
  }

  /// A good run. One that was handed out before the plugin's last mishap says nothing of what the plugin is like since.
  func absolve(_ entry: LiveRunEntry, _ transaction: any StoreTransaction) throws {
    let identifier = entry.identifier
    guard var standing = standings[identifier], !standing.isQuarantined, standing.strikes > 0 || standing.heldUntil != nil else { return }
    if let newest = newestAtStrike[identifier], entry.run <= newest { return }
    standing.clear()
    try change(identifier, to: standing, incident: incidents[identifier], transaction)
  }

  /// A plugin has misbehaved: `trouble` is a sentence.
  func strike(
    _ identifier: TaskIdentifier, _ trouble: String, _ incident: UInt64?, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    // Runs that one mishap ended are one strike.
    if let incident, incidents[identifier] == incident { return }
    var standing = standings[identifier] ?? Standing()
    standing.strike(trouble, retry: policy.retry, now: now)
    try change(identifier, to: standing, incident: incident ?? incidents[identifier], transaction)
    newestAtStrike[identifier] = [live.keys.max(), claims.keys.max()].compactMap { $0 }.max() ?? newestAtStrike[identifier]
  }

  /// Lets a plugin run again, with nothing held against it. Returns what was.
  func release(_ identifier: TaskIdentifier, _ transaction: any StoreTransaction) throws -> Standing {
    guard let standing = standings[identifier] else {
      guard handlers[identifier] != nil else {
        throw RequestRefusal(
          .notFound, "no plugin registered \(identifier), and nothing is held against it: see taskhost plugins list", field: "identifier")
      }
      return Standing()
    }
    try change(identifier, to: nil, incident: incidents[identifier], transaction)
    return standing
  }

  /// Runs of a host that is gone because of them: each plugin is struck once. Returns the standings that follow from `known`.
  static func standings(
    _ known: [TaskIdentifier: Standing], afterHostDiedOf crashed: [RunID: String], among running: [RequestRecord], retry: RetryPolicy,
    now: WallTime
  ) -> [TaskIdentifier: Standing] {
    var standings = known
    var blamed: Set<TaskIdentifier> = []
    for record in running {
      let identifier = record.request.identifier
      guard let run = record.run, let trouble = crashed[run], blamed.insert(identifier).inserted else { continue }
      standings[identifier, default: Standing()].strike(
        "it took the host along: \(Self.firstLine(trouble))", tookHost: true, retry: retry, now: now)
    }
    return standings
  }

  /// Writes a standing, and remembers what was in case the turn is undone.
  func change(_ identifier: TaskIdentifier, to standing: Standing?, incident: UInt64?, _ transaction: any StoreTransaction) throws {
    let standing = standing == Standing() ? nil : standing
    try transaction.setStanding(standing, of: identifier)
    turn.standings.append(
      EngineTurn.StandingChange(
        identifier: identifier, standing: standing, before: standings[identifier], incidentBefore: incidents[identifier],
        newestBefore: newestAtStrike[identifier]))
    incidents[identifier] = incident
    keep(standing, of: identifier)
  }

  /// Takes changes back, the last one first.
  func takeBack(_ changes: some BidirectionalCollection<EngineTurn.StandingChange>) {
    for change in changes.reversed() {
      incidents[change.identifier] = change.incidentBefore
      newestAtStrike[change.identifier] = change.newestBefore
      keep(change.before, of: change.identifier)
    }
  }

  private func keep(_ standing: Standing?, of identifier: TaskIdentifier) {
    standings[identifier] = standing
    handlers[identifier]?.heldUntil = standing.flatMap { $0.isQuarantined ? .distantFuture : $0.heldUntil }
  }

  /// How a handler stands; a time that has passed holds it back no more.
  func overview(of handler: HandlerState, now: WallTime) -> HandlerOverview {
    var standing = standings[handler.contract.identifier] ?? Standing()
    if !standing.isHeld(at: now) { standing.heldUntil = nil }
    let identifier = handler.contract.identifier
    var overview = HandlerOverview(running: handler.running, suspension: handler.suspension, standing: standing)
    overview.shortage = handler.shortage
    (overview.rate, overview.quota) = limits.description(of: identifier, live: liveStarts(of: identifier), now: now)
    for lane in handler.lanes.values {
      if case .at(let due) = lane.nextDue { overview.nextDue = min(overview.nextDue ?? due, due) }
    }
    return overview
  }

  /// Why a plugin's standing keeps its requests from being run, a sentence; nil: it does not.
  func gate(of identifier: TaskIdentifier, now: WallTime) -> String? {
    guard let standing = standings[identifier] else { return nil }
    let last = standing.lastTrouble.map { "; last: \($0)" } ?? ""
    if let since = standing.quarantinedSince {
      return "the plugin is quarantined, for \(Self.text(now - since)) now\(last): taskhost plugins release \(identifier)"
    }
    guard let until = standing.heldUntil, now < until else { return nil }
    let count = standing.strikes == 1 ? "1 crash or forced stop" : "\(standing.strikes) crashes or forced stops"
    return "the plugin is held back after \(count): for another \(Self.text(until - now))\(last)"
  }

  private static func sentence(_ what: String, _ report: RunReport) -> String {
    guard let detail = report.trouble.map(firstLine) ?? report.message else { return what }
    return "\(what): \(String(detail.prefix(500)))"
  }

  static func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }.prefix(500)) }
}
