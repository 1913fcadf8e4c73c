import TaskModel

extension SchedulerCore {
  /// Loads the plugins' health from the store.
  func load(_ known: [TaskIdentifier: PluginHealth], now: WallTime) {
    let longest = PluginHealth.delay(afterStrike: PluginHealth.failuresToQuarantine, retry: policy.retry)
    for (identifier, var health) in known {
      // If the calendar was set back since, the stored time would hold the plugin too long.
      if let until = health.heldUntil { health.heldUntil = min(until, now + longest) }
      keep(health, of: identifier)
    }
  }

  /// Counts crashes and forced stops against the plugin; a good run clears them.
  func judge(_ entry: LiveRunEntry, _ ending: RunEnding, _ report: RunReport, _ transaction: any StoreTransaction, now: WallTime) throws {
    let identifier = entry.identifier
    // The plugin is not to blame for a lease that ended: its runs were killed for that.
    guard !(leaseIsOver && entry.request.origin == fleet) else { return }
    switch ending {
    case .crashed: try recordFailure(identifier, Self.crash(report), report.incident, transaction, now: now)
    case .forced(let reason) where reason != .cancelled && reason != .replaced && !(reason == .draining && isForced):
      // A run that was live at the last failure cannot be a second one: runs that get stuck at the same time have one cause.
      if let newest = newestAtFailure[identifier], entry.run <= newest { break }
      let what = "a run was stopped by force (\(reason.rawValue))"
      try recordFailure(identifier, Self.sentence(what, report), report.incident, transaction, now: now)
    case .returned(.success, _), .returned(.noop, _): try resetHealth(entry, transaction)
    case .returned, .forced, .lost: break
    }
  }

  /// Clears the plugin's failures after a good run, unless the run was handed out before the last failure.
  func resetHealth(_ entry: LiveRunEntry, _ transaction: any StoreTransaction) throws {
    let identifier = entry.identifier
    guard var health = pluginHealth[identifier], !health.isQuarantined, health.failures > 0 || health.heldUntil != nil else { return }
    if let newest = newestAtFailure[identifier], entry.run <= newest { return }
    health.clear()
    try change(identifier, to: health, incident: incidents[identifier], transaction)
  }

  /// Counts a failure against the plugin. `trouble` describes it in a sentence.
  func recordFailure(
    _ identifier: TaskIdentifier, _ trouble: String, _ incident: UInt64?, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    // All runs that one incident ended count as one failure.
    if let incident, incidents[identifier] == incident { return }
    var health = pluginHealth[identifier] ?? PluginHealth()
    health.recordFailure(trouble, retry: policy.retry, now: now)
    try change(identifier, to: health, incident: incident ?? incidents[identifier], transaction)
    newestAtFailure[identifier] = [live.keys.max(), claims.keys.max()].compactMap { $0 }.max() ?? newestAtFailure[identifier]
  }

  /// Releases a plugin and clears its failures. Returns the previous health.
  func release(_ identifier: TaskIdentifier, _ transaction: any StoreTransaction) throws -> PluginHealth {
    guard let health = pluginHealth[identifier] else {
      guard handlers[identifier] != nil else {
        throw RequestRefusal(
          .notFound, "no plugin has registered \(identifier), and it has no failures: see taskhost plugins list", field: "identifier")
      }
      return PluginHealth()
    }
    try change(identifier, to: nil, incident: incidents[identifier], transaction)
    return health
  }

  /// Adds a failure to `known` for each plugin with runs that crashed the previous host process. Returns the resulting health.
  static func pluginHealth(
    _ known: [TaskIdentifier: PluginHealth], afterHostDiedOf crashed: [RunID: String], among running: [RequestRecord], retry: RetryPolicy,
    now: WallTime
  ) -> [TaskIdentifier: PluginHealth] {
    var pluginHealth = known
    var blamed: Set<TaskIdentifier> = []
    for record in running {
      let identifier = record.request.identifier
      guard let run = record.run, let trouble = crashed[run], blamed.insert(identifier).inserted else { continue }
      pluginHealth[identifier, default: PluginHealth()].recordFailure(
        Self.hostCrash(trouble), tookHost: true, retry: retry, now: now)
    }
    return pluginHealth
  }

  /// Writes a plugin's health, and remembers the previous one in case the turn is undone.
  func change(_ identifier: TaskIdentifier, to health: PluginHealth?, incident: UInt64?, _ transaction: any StoreTransaction) throws {
    let health = health == PluginHealth() ? nil : health
    try transaction.setHealth(health, of: identifier)
    turn.pluginHealth.append(
      EngineTurn.HealthChange(
        identifier: identifier, health: health, before: pluginHealth[identifier], incidentBefore: incidents[identifier],
        newestBefore: newestAtFailure[identifier]))
    incidents[identifier] = incident
    keep(health, of: identifier)
  }

  /// Undoes changes of health, last first.
  func takeBack(_ changes: some BidirectionalCollection<EngineTurn.HealthChange>) {
    for change in changes.reversed() {
      incidents[change.identifier] = change.incidentBefore
      newestAtFailure[change.identifier] = change.newestBefore
      keep(change.before, of: change.identifier)
    }
  }

  private func keep(_ health: PluginHealth?, of identifier: TaskIdentifier) {
    pluginHealth[identifier] = health
    handlers[identifier]?.heldUntil = heldUntil(identifier)
  }

  /// The time before which a plugin's health keeps it from getting runs; nil if it does not.
  func heldUntil(_ identifier: TaskIdentifier) -> WallTime? {
    pluginHealth[identifier].flatMap { $0.isQuarantined ? .distantFuture : $0.heldUntil }
  }

  /// The state of a handler, without a hold that has passed.
  func overview(of handler: HandlerState, now: WallTime) -> HandlerOverview {
    var health = pluginHealth[handler.contract.identifier] ?? PluginHealth()
    if !health.isHeld(at: now) { health.heldUntil = nil }
    let identifier = handler.contract.identifier
    var overview = HandlerOverview(running: handler.running, suspension: handler.suspension, health: health)
    overview.shortage = handler.shortage
    // Unknown as long as nothing was submitted.
    overview.isFull = liveCounts[identifier].map { $0 >= policy.maxPending } ?? false
    (overview.rate, overview.quota) = limits.description(of: identifier, live: liveStarts(of: identifier), now: now)
    for lane in handler.lanes.values {
      guard case .at(let due) = lane.nextDue else { continue }
      overview.nextDue = min(overview.nextDue ?? due, due)
      if due <= now, overview.throttle == nil { overview.throttle = throttle(of: lane, handler, now: now) }
    }
    return overview
  }

  /// A sentence that says why the plugin's health holds its requests; nil if it does not.
  func gate(of identifier: TaskIdentifier, now: WallTime) -> String? {
    guard let health = pluginHealth[identifier] else { return nil }
    let last = health.lastTrouble.map { "; last: \($0)" } ?? ""
    if let since = health.quarantinedSince {
      return "the plugin has been quarantined for \(Self.text(now - since))\(last): taskhost plugins release \(identifier)"
    }
    guard let until = health.heldUntil, now < until else { return nil }
    let count = health.failures == 1 ? "1 crash or forced stop" : "\(health.failures) crashes or forced stops"
    return "the plugin is held back after \(count): for another \(Self.text(until - now))\(last)"
  }

  /// What a crash was. A launcher's message is a whole sentence: "its worker was killed by SIGKILL".
  private static func crash(_ report: RunReport) -> String { report.message.map(firstLine) ?? sentence("it crashed", report) }

  /// - Parameter trouble: What became of the host: a sentence without its subject, and the stack below it.
  static func hostCrash(_ trouble: String) -> String { "it ended the host, which \(firstLine(trouble))" }

  private static func sentence(_ what: String, _ report: RunReport) -> String {
    guard let detail = report.trouble.map(firstLine) ?? report.message else { return what }
    return "\(what): \(String(detail.prefix(500)))"
  }

  static func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }.prefix(500)) }
}
