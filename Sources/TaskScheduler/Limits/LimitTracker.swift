import SchedulingLimits
import TaskModel

/// The current use of the operator's limits. The live runs and the history can rebuild all of it.
struct LimitTracker {
  private let limits: [TaskIdentifier: PluginLimits]
  /// The limits of identifiers that ``limits`` does not name.
  private let otherLimits: PluginLimits
  private let profile: ThrottlingProfile
  private(set) var resources: ResourcePool
  private var hostRate: RateLimiter?
  private var rates: [TaskIdentifier: RateLimiter] = [:]
  private var keyRates: [TaskIdentifier: [String: RateLimiter]] = [:]
  /// How many keys of each identifier there may be before those without recent starts are looked for.
  private var mostKeys: [TaskIdentifier: Int] = [:]
  private static let leastKeys = 4096
  private var keyRuns: [TaskIdentifier: [String: Int]] = [:]
  /// Handed-out runs whose begin is not known yet: they hold their places in the rates.
  private var unbegun: [RunID: LiveRunEntry] = [:]
  private var quotas: [TaskIdentifier: RunQuotaMeter] = [:]
  /// How often events woke the requests of an identifier.
  private var wakes: [TaskIdentifier: RateLimiter] = [:]
  private let wakeRate: Rate?

  init(_ policy: SchedulingPolicy) {
    limits = policy.limits
    otherLimits = policy.otherLimits
    profile = policy.profile
    resources = ResourcePool(policy.resources)
    hostRate = policy.rate.map { RateLimiter($0) }
    wakeRate = policy.eventQuota
    for (identifier, limits) in policy.limits {
      rates[identifier] = limits.rate.map { RateLimiter($0) }
      quotas[identifier] = limits.quota.map { RunQuotaMeter($0) }
    }
  }

  /// The use of other limits than before, by the same runs.
  ///
  /// - Parameters:
  ///   - live: All live runs.
  ///   - history: See ``restore(_:now:key:)``.
  init(
    _ policy: SchedulingPolicy, after before: LimitTracker, live: some Collection<LiveRunEntry>, history: [RunRecord], now: WallTime,
    key: (RunRecord) -> String?
  ) {
    self.init(policy)
    for entry in live { take(entry) }
    // Those whose begin is still to be reported are counted then.
    let begun = live.filter { before.unbegun[$0.run] == nil }
    let keys = Dictionary(begun.map { ($0.run, $0.gates.concurrencyKey) }) { first, _ in first }
    restore(history + begun.map(\.record), now: now) { run in keys[run.id] ?? key(run) }
    for entry in before.unbegun.values.sorted(by: { $0.run < $1.run }) { handedOut(entry, now: now) }
    if wakeRate == before.wakeRate { wakes = before.wakes }
  }

  /// Whether two policies have the same limits.
  static func areEqual(_ policy: SchedulingPolicy, _ other: SchedulingPolicy) -> Bool {
    policy.limits == other.limits && policy.otherLimits == other.otherLimits && policy.profile == other.profile
      && policy.resources == other.resources && policy.rate == other.rate && policy.eventQuota == other.eventQuota
  }

  private func meter(of identifier: TaskIdentifier) -> RunQuotaMeter? {
    quotas[identifier] ?? limits(of: identifier).quota.map { RunQuotaMeter($0) }
  }

  private func limits(of identifier: TaskIdentifier) -> PluginLimits { limits[identifier] ?? otherLimits }

  /// Begins to count what a limit for all identifiers needs of this one.
  private mutating func prepare(_ identifier: TaskIdentifier) {
    guard limits[identifier] == nil else { return }
    if let rate = otherLimits.rate, rates[identifier] == nil { rates[identifier] = RateLimiter(rate) }
    if let quota = otherLimits.quota, quotas[identifier] == nil { quotas[identifier] = RunQuotaMeter(quota) }
  }

  /// Whether a quota counts the run time of the identifier.
  func hasQuota(_ identifier: TaskIdentifier) -> Bool { limits(of: identifier).quota != nil }

  /// Whether any limit could hold the identifier's lane.
  func concerns(_ lane: LaneState, of identifier: TaskIdentifier) -> Bool {
    hostRate != nil || !lane.gates.resources.isEmpty || lane.gates.concurrencyKey != nil || limits(of: identifier).holdsRuns
  }

  /// The host resources that a run of the lane takes.
  func tokens(_ gates: RunConstraints, _ identifier: TaskIdentifier) -> [String: Int] {
    let more = limits(of: identifier).resources
    guard !more.isEmpty else { return gates.resources }
    return gates.resources.merging(more, uniquingKeysWith: max)
  }

  func runsPerKey(_ identifier: TaskIdentifier) -> Int { limits(of: identifier).runsPerKey }

  /// Calls `body` with each limit that holds the lane, until `body` returns false. Returns whether all calls returned true.
  func visitHolds(on lane: LaneState, of handler: HandlerContract, live: [WallTime], now: WallTime, _ body: (Hold) -> Bool) -> Bool {
    let identifier = handler.identifier
    if let key = lane.gates.concurrencyKey {
      if keyRuns[identifier]?[key] ?? 0 >= runsPerKey(identifier), !body(Hold(gate: .key)) { return false }
      if let limiter = keyRates[identifier]?[key], let hold = Self.closed(limiter, now), !body(hold) { return false }
    }
    let tokens = tokens(lane.gates, identifier)
    if !tokens.isEmpty, !resources.canTake(tokens), !body(Hold(gate: .resource)) { return false }
    if let hold = hostRate.flatMap({ Self.closed($0, now) }), !body(hold) { return false }
    if let hold = rates[identifier].flatMap({ Self.closed($0, now) }), !body(hold) { return false }
    if let meter = meter(of: handler.identifier), !lane.gates.isPastDeadline,
      handler.kind != .continued || !limits(of: identifier).hasProfilesQuota
    {
      let opens = meter.opensAt(now, live: live)
      if opens > now, !body(Hold(gate: .quota, until: opens)) { return false }
    }
    return true
  }

  /// Takes the resources and the key of a run that begins, or whose end is undone.
  mutating func take(_ entry: LiveRunEntry) {
    resources.overdraw(tokens(entry.gates, entry.identifier))
    if let key = entry.gates.concurrencyKey { keyRuns[entry.identifier, default: [:]][key, default: 0] += 1 }
  }

  /// Gives back the resources and the key of a run that has ended, or whose begin is undone.
  mutating func give(_ entry: LiveRunEntry) {
    resources.give(tokens(entry.gates, entry.identifier))
    guard let key = entry.gates.concurrencyKey, let count = keyRuns[entry.identifier]?[key] else { return }
    keyRuns[entry.identifier]?[key] = count > 1 ? count - 1 : nil
  }

  // MARK: Begins, which the rates count

  /// Whether a rate counts the begins of runs with these gates, so that the launcher must report them.
  func countsBegins(_ gates: RunConstraints, of identifier: TaskIdentifier) -> Bool {
    let limits = limits(of: identifier)
    return hostRate != nil || limits.rate != nil || (gates.concurrencyKey != nil && limits.ratePerKey != nil)
  }

  /// Whether the begin of any handed-out run is still unknown.
  var awaitsBegins: Bool { !unbegun.isEmpty }

  /// Reserves the place of a run that is handed to its launcher. The launcher may have to launch a worker first: the place counts until the
  /// begin is known, however long that takes, and for a whole period afterwards.
  mutating func handedOut(_ entry: LiveRunEntry, now: WallTime) {
    guard countsBegins(entry.gates, of: entry.identifier), unbegun.updateValue(entry, forKey: entry.run) == nil else { return }
    prepare(entry.identifier)
    hostRate?.hold(at: now)
    rates[entry.identifier]?.hold(at: now)
    guard let key = entry.gates.concurrencyKey, let rate = limits(of: entry.identifier).ratePerKey else { return }
    // Concurrency keys come and go: forget those without recent starts, and look for them again once there are twice as many.
    if keyRates[entry.identifier]?.count ?? 0 >= mostKeys[entry.identifier, default: Self.leastKeys] {
      keyRates[entry.identifier] = keyRates[entry.identifier]?.filter { $0.value.available(at: now) < rate.count }
      mostKeys[entry.identifier] = max(Self.leastKeys, 2 * (keyRates[entry.identifier]?.count ?? 0))
    }
    keyRates[entry.identifier, default: [:]][key, default: RateLimiter(rate)].hold(at: now)
  }

  /// Counts the begin of a handed-out run, at `time` or earlier.
  ///
  /// - Returns: Whether the begin was unknown and now counts.
  @discardableResult mutating func began(_ run: RunID, at time: WallTime) -> Bool {
    guard let entry = unbegun.removeValue(forKey: run) else { return false }
    hostRate?.begin(at: time)
    rates[entry.identifier]?.begin(at: time)
    if let key = entry.gates.concurrencyKey { keyRates[entry.identifier]?[key]?.begin(at: time) }
    return true
  }

  /// Releases the place of a handed-out run that will not begin. A run whose begin is known stays counted.
  mutating func letGo(_ run: RunID) {
    guard let entry = unbegun.removeValue(forKey: run) else { return }
    hostRate?.letGo()
    rates[entry.identifier]?.letGo()
    if let key = entry.gates.concurrencyKey { keyRates[entry.identifier]?[key]?.letGo() }
  }

  /// Counts all handed-out runs as begun at `now`, because nothing better is known.
  mutating func assumeBegun(at now: WallTime) { for run in unbegun.keys.sorted() { began(run, at: now) } }

  // MARK: History

  mutating func note(_ run: RunRecord) {
    guard hasQuota(run.identifier), let outcome = run.outcome, let duration = run.duration else { return }
    prepare(run.identifier)
    quotas[run.identifier]?.record(start: run.started, duration: duration, outcome: outcome)
  }

  /// Counts runs that began before this host process.
  ///
  /// - Parameter key: Returns the concurrency key of a run; called only if the key counts.
  mutating func restore(_ runs: [RunRecord], now: WallTime, key: (RunRecord) -> String?) {
    // If a run ended in the future, the calendar was set back since: leave it out.
    let oldestFirst = runs.filter { ($0.ended ?? $0.started) <= now }.sorted { $0.started < $1.started }
    for run in oldestFirst {
      // For a lost run, the record holds the time at which it was handed out, unless it began late.
      let start = run.outcome == .lost ? min(run.started + Self.unnoted, run.ended ?? run.started) : run.started
      prepare(run.identifier)
      hostRate?.record(start)
      rates[run.identifier]?.record(start)
      if let rate = limits(of: run.identifier).ratePerKey, let key = key(run) {
        keyRates[run.identifier, default: [:]][key, default: RateLimiter(rate)].record(start)
      }
      note(run)
    }
  }

  /// The delay between hand-out and begin from which the begin is recorded again.
  static let unnoted = Duration.milliseconds(100)

  /// Whether any limit needs the history.
  var needsHistory: Bool { hostRate != nil || otherLimits.needsHistory || limits.values.contains(where: \.needsHistory) }

  /// Moves all times after the wall clock was set by `distance`.
  mutating func shift(by distance: Duration) {
    hostRate = hostRate?.shifted(by: distance)
    rates = rates.mapValues { $0.shifted(by: distance) }
    keyRates = keyRates.mapValues { $0.mapValues { $0.shifted(by: distance) } }
    quotas = quotas.mapValues { $0.shifted(by: distance) }
    wakes = wakes.mapValues { $0.shifted(by: distance) }
  }

  /// The wake-ups of the identifier, if they are limited and there were some.
  func wakes(of identifier: TaskIdentifier) -> RateLimiter? { wakes[identifier] }

  /// Puts back what ``wakes(of:)`` was.
  mutating func set(_ before: RateLimiter?, wakesOf identifier: TaskIdentifier) { wakes[identifier] = before }

  /// When an event may wake a request of the identifier; counts the wake-up.
  mutating func wake(_ identifier: TaskIdentifier, now: WallTime) -> WallTime {
    guard let wakeRate else { return now }
    var limiter = wakes[identifier] ?? RateLimiter(wakeRate)
    // Future wake-ups already count: the next one comes after them.
    let time = limiter.nextPermit(after: max(now, limiter.newestStart ?? now))
    limiter.record(time)
    wakes[identifier] = limiter
    return time
  }

  /// Whether no event may wake a request of the identifier now.
  func holdsWakes(of identifier: TaskIdentifier, at now: WallTime) -> Bool {
    wakes[identifier].map { Self.closed($0, now) != nil } ?? false
  }

  // MARK: For people

  /// What an operator can do about a quota.
  func remedy(ofQuotaOf identifier: TaskIdentifier) -> String {
    let key = "the quota in the table of \(identifier) is raised"
    return limits(of: identifier).hasProfilesQuota ? "\(key), or is \"none\": this one is that of the profile \(profile.rawValue)" : key
  }

  /// The sentence for a limit that holds a lane; nil for other gates.
  func sentence(_ gate: GateKind, lane: LaneState, _ identifier: TaskIdentifier, live: [WallTime], now: WallTime) -> String? {
    switch gate {
    case .key:
      "\(keyRuns[identifier]?[lane.gates.concurrencyKey ?? ""] ?? 0) of \(runsPerKey(identifier)) runs with the concurrency key \"\(lane.gates.concurrencyKey ?? "")\" are live"
    case .resource: resources.missing(for: tokens(lane.gates, identifier)).map(\.description).joined(separator: ", ")
    case .rate: rateSentence(lane, identifier, now)
    case .quota: meter(of: identifier).map { "\(identifier) has \($0.explain(at: now, live: live))" }
    default: nil
    }
  }

  /// When a rate or the quota began to hold a lane; nil if it does not hold it, or if that is unknown.
  func closedSince(_ gate: GateKind, lane: LaneState, _ identifier: TaskIdentifier, live: [WallTime], now: WallTime) -> WallTime? {
    switch gate {
    // The last start that the rate counts used it up.
    case .rate: closedRates(lane, identifier, now).compactMap(\.limiter.newestStart).map { min($0, now) }.min()
    case .quota: meter(of: identifier)?.usedUpSince(now, live: live)
    default: nil
    }
  }

  /// The rates that hold a lane, with descriptions.
  private func closedRates(_ lane: LaneState, _ identifier: TaskIdentifier, _ now: WallTime) -> [(name: String, limiter: RateLimiter)] {
    var rates: [(name: String, limiter: RateLimiter)] = []
    if let hostRate { rates.append(("the host's rate limit of \(hostRate.rate)", hostRate)) }
    if let limiter = self.rates[identifier] { rates.append(("the plugin's rate limit of \(limiter.rate)", limiter)) }
    if let key = lane.gates.concurrencyKey, let limiter = keyRates[identifier]?[key] {
      rates.append(("the rate limit of \(limiter.rate) of the concurrency key \"\(key)\"", limiter))
    }
    return rates.filter { Self.closed($0.limiter, now) != nil }
  }

  private func rateSentence(_ lane: LaneState, _ identifier: TaskIdentifier, _ now: WallTime) -> String {
    closedRates(lane, identifier, now).map(\.name).joined(separator: " and ") + " is used up"
  }

  /// The use of an identifier's rate and quota, as text for people; nil for what it does not have.
  func description(of identifier: TaskIdentifier, live: [WallTime], now: WallTime) -> (rate: String?, quota: String?) {
    let limits = limits(of: identifier)
    return (
      (rates[identifier] ?? limits.rate.map { RateLimiter($0) }).map { "\($0.available(at: now)) of \($0.rate) left" },
      meter(of: identifier).map { $0.explain(at: now, live: live) }
    )
  }

  /// Whether the host's own rate permits no start now.
  func holdsHost(at now: WallTime) -> Bool { hostRate.flatMap { Self.closed($0, now) } != nil }

  /// The hold of a rate; nil if the rate permits a start now.
  private static func closed(_ limiter: RateLimiter, _ now: WallTime) -> Hold? {
    let permit = limiter.nextPermit(after: now)
    return permit > now ? Hold(gate: .rate, until: permit < .distantFuture ? permit : nil) : nil
  }
}
