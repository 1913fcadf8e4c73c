import Failpoints
import SchedulingLimits
import TaskModel

/// Decides what runs when. It has no thread, no clock and no I/O: each step gets a transaction and a time, so a test can run a day of
/// scheduling in milliseconds.
///
/// Its memory only speeds up decisions and can be discarded; the store is authoritative.
final class SchedulerCore {
  /// The operator's rules. Of what a reload replaces (``InForce``), only ``adopt(_:_:now:)`` puts something else in place.
  var policy: SchedulingPolicy
  var handlers: [TaskIdentifier: HandlerState] = [:]
  /// Handlers that a reload has removed, because runs of them may be live. They get no runs.
  var leaving: [TaskIdentifier: HandlerState] = [:]
  var agenda = Agenda()
  /// The runs that have begun.
  var live: [RunID: LiveRunEntry] = [:]
  /// The live runs whose requests are still recorded as claimed.
  var unrecorded: Set<RunID> = []
  /// Runs handed out ahead of their begin. Only `keep` and `forget` change it; `setAsked` marks runs that are asked back.
  var claims: [RunID: Claim] = [:]
  /// The number of claims that wait for their time.
  private(set) var heldClaims = 0
  /// The number of claims of each identifier that has any.
  private var claimants: [TaskIdentifier: Int] = [:]
  /// Whether a handler keeps its requests here, see ``HandlerState/keepsHere``.
  var keepsAny = false
  /// The health of plugins with failures. Only `change` sets it, so that it can be undone.
  var pluginHealth: [TaskIdentifier: PluginHealth] = [:]
  /// The last incident that counted against each plugin.
  var incidents: [TaskIdentifier: UInt64] = [:]
  /// The newest run that was handed out when each plugin last failed.
  var newestAtFailure: [TaskIdentifier: RunID] = [:]
  /// The host's slots in use.
  var occupiedSlots = 0
  /// Whether the host drains and begins no more runs.
  var isDraining = false
  /// Whether an operator ended the drain. The plugins are not to blame for the runs that this stops by force, without their grace.
  var isForced = false
  /// Since when the host drains; nil if it does not, or if that is unknown.
  var drainingSince: WallTime?
  /// How many more runs may begin; nil means no limit besides slots. A stepped host allows one at a time.
  var permits: Int?
  /// The failure of the store; nil if it works. Until it works again, no runs begin.
  var storeTrouble: StoreError?
  /// Since when the store has failed; nil if it works, or if that is unknown.
  var storeTroubleSince: WallTime?
  /// When this host process began.
  let begun: WallTime
  /// Returns why an identifier's handler refuses a payload; nil accepts it. See ``Scheduler``'s start.
  var rejection: @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }
  /// What is submitted when requests of an identifier end; nil: nothing.
  var completions: CompletionRule?
  /// The pauses in force. Only `open` and `change` set it, so that it can be undone.
  var pauses = PauseBook() { didSet { for handler in handlers.values { handler.pausedUntil = pauses.shut(handler.contract.identifier) } } }
  /// What is expected of identifiers, and whether they are late.
  var objectives: [TaskIdentifier: ObjectiveState] = [:]
  /// What is remembered of notifications; nil if nobody is told of anything. A failed commit undoes its changes.
  var notices: NoticeBook?
  /// What has become overdue and is told of in the next turn.
  var overdueFound: [Incident] = []
  /// Whether events are collected for observers.
  var isObserved = false
  var turn = EngineTurn()
  /// When the turn began, on the clock of budgets and waits.
  private(set) var turnBegan = MonotonicTime(nanoseconds: 0)
  var endedRuns = EndedRuns()
  /// The machine's conditions; if nil, they are unknown and count as held.
  var conditions: ConditionReport? { didSet { conditionsChanged = true } }
  /// Whether runs handed out ahead must still be compared with the conditions.
  var conditionsChanged = false
  /// Requests that others wait for, perhaps with some that nobody awaits any longer; nil if the store must be asked.
  var awaited: Set<RequestID>?
  /// The first deadline of a pending request.
  var nextDeadline: NextDue = .unknown
  /// Occurrences before this moment were missed: the host was down, or the machine slept.
  var awakeSince: WallTime
  /// The same on the boot clock; nil until the clocks are known.
  var awakeSinceBoot: WallTime?
  /// The same for the fleet's requests: no host of the fleet was up.
  var fleetAwakeSince = WallTime.distantPast
  /// The host's name in the fleet.
  var fleetHost: String?
  /// Reads the clock that times of the fleet's requests are on; it gives nil while it is not known.
  var fleetClock: @Sendable () -> WallTime? = { nil }
  /// Until when all successes of these identifiers of the fleet are known, on this host's clock.
  var fleetSuccesses: (identifiers: Set<TaskIdentifier>, until: WallTime) = ([], .distantPast)
  /// The conditions that ready requests of the fleet require, and who is told when one of them holds again.
  var fleetAwaits: (conditions: Conditions, gained: @Sendable () -> Void) = ([], {})
  let occurrences: Occurrences
  var windows: WindowBook
  var limits: LimitTracker
  /// The number of live requests per identifier, for those already counted.
  private(set) var liveCounts: [TaskIdentifier: Int] = [:]
  /// The number of idempotency keys of a plugin, or more, for those already counted.
  var keyCounts: [TaskIdentifier: Int] = [:]
  /// The number of open unique windows of an identifier, or more, for those already counted.
  var windowCounts: [TaskIdentifier: Int] = [:]
  /// Whether a request that wakes the machine has been pending.
  var hasWaking = false
  /// Why the machine cannot be woken, as a clause; nil if it can, or if nobody has tried.
  var wakeTrouble: String?
  /// Whether requests wait for changes of files, or for events that the host raises.
  var awaitsHost: Bool { watchesFiles || !awaitedHostEvents.isEmpty }
  /// Whether requests wait for changes of files.
  var watchesFiles = false
  /// The events among ``HostEvents`` that requests wait for.
  var awaitedHostEvents: Set<String> = []
  /// Requests in backoff that wait for changes of files too.
  var awaitedRetries = AwaitedRetries()
  /// Whether a failed commit undid what ``awaitedHostEvents`` and ``watchesFiles`` say.
  var watchesAreStale = false
  /// The identifiers whose submissions were paced, which was reported.
  var paced: Set<TaskIdentifier> = []
  /// Whether an identifier is shared fairly.
  var hasFairness = false
  /// How often the store was asked about a lane: most of a turn's work if there are many lanes.
  private(set) var laneQuestions = 0
  /// The counts of events since the host began.
  var eventCounts = EventCounts()
  private var ids: RecordIDGenerator
  let origin: UInt64
  /// What the ids of the fleet's requests share; nil if the host is in none. Set before the start.
  var fleet: UInt64?
  /// Whether the host's lease in the fleet has ended, and it has taken nothing since.
  var leaseIsOver = false
  /// The requests of the fleet that were here when the lease ended, until a turn has given back those that wait: none of them begins.
  var forsaken: Set<RequestID> = []
  /// The fencing tokens of the fleet's requests that are here. A turn that is undone changes nothing of it.
  var fencingTokens: [RequestID: Int64] = [:]
  /// Whether a submission is checked for the fleet, of which another host may have what this one lacks.
  var draftsForFleet = false
  /// The visit of requests of the fleet that is under way; nil if none is.
  var visiting: Visiting?
  private var random: any RandomNumberGenerator

  init(
    policy: SchedulingPolicy, origin: UInt64, lastSequence: Int64, now: WallTime,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    self.policy = policy
    awakeSince = now
    begun = now
    occurrences = Occurrences(zones: policy.timeZones)
    windows = WindowBook(policy.windows)
    limits = LimitTracker(policy)
    self.origin = origin
    ids = RecordIDGenerator(after: lastSequence)
    self.random = random
  }

  /// Suspends a handler, with the reason; nil resumes it.
  func suspend(_ identifier: TaskIdentifier, _ reason: String?, now: WallTime) {
    guard let handler = handlers[identifier] else { return }
    handler.suspendedSince = reason == nil ? nil : handler.suspendedSince ?? now
    handler.suspension = reason
  }

  func nextID<Kind>(_ now: WallTime) -> RecordID<Kind> { RecordID(sequence: ids.next(at: now), origin: origin) }

  /// A random number from −1 to 1, for the retry policy.
  func jitter() -> Double { Double.random(in: -1...1, using: &random) }

  /// Counts a question to the store about a lane.
  func noteQuestion() { laneQuestions &+= 1 }

  /// Adds the handlers of the sealed registry.
  func register(_ contracts: [HandlerContract]) {
    for contract in contracts {
      let fairBy = policy.limits(of: contract.identifier).fairBy
      handlers[contract.identifier] = HandlerState(contract: contract, agenda: agenda, fairBy: fairBy)
      if fairBy != nil { hasFairness = true }
    }
  }

  /// Notes that a run takes a slot: its launcher is to begin it.
  func slotTaken(_ entry: LiveRunEntry) {
    limits.take(entry)
    recount(entry.identifier) { $0.runBegan(at: entry.started) }
  }

  /// Notes that a run has ended; `took` is the duration of the handler's call, nil if unknown.
  func slotFreed(_ entry: LiveRunEntry, took: Duration?, now: WallTime) {
    limits.give(entry)
    // A run whose time nobody measured, because it crashed, has cost what has passed.
    handlers[entry.identifier]?.shares?.end(entry.run, took: took ?? max(.zero, now - entry.started))
    recount(entry.identifier) { $0.runEnded(took: took, now: now) }
  }

  /// Remembers a run that is handed out ahead.
  func keep(_ claim: Claim, now: WallTime) {
    claims[claim.entry.run] = claim
    claimants[claim.entry.identifier, default: 0] += 1
    if claim.isHeld { heldClaims += 1 }
    recount(claim.entry.identifier) { $0.claimed(claim, now: now) }
  }

  /// Forgets a run handed out ahead that has begun or is taken back.
  ///
  /// - Returns: Its claim; nil if it was not handed out ahead.
  func forget(_ run: RunID, now: WallTime) -> Claim? {
    guard let claim = claims.removeValue(forKey: run) else { return nil }
    let left = (claimants[claim.entry.identifier] ?? 1) - 1
    claimants[claim.entry.identifier] = left > 0 ? left : nil
    if claim.isHeld { heldClaims -= 1 }
    recount(claim.entry.identifier) { $0.unclaimed(claim, now: now) }
    return claim
  }

  /// The handlers with runs that are handed out ahead.
  var claiming: [HandlerState] { claimants.keys.compactMap { handlers[$0] } }

  /// The handler whose runs are live, even if it gets no more.
  func handler(ofRunsOf identifier: TaskIdentifier) -> HandlerState? { handlers[identifier] ?? leaving[identifier] }

  private func recount(_ identifier: TaskIdentifier, _ change: (HandlerState) -> Void) {
    guard let handler = handler(ofRunsOf: identifier) else { return }
    occupiedSlots -= handler.occupiedSlots
    change(handler)
    occupiedSlots += handler.occupiedSlots
  }

  /// Tells observers about a request as it is now.
  func note(_ record: RequestRecord) {
    if let event = record.request.event, event.path != nil || HostEvents.isRaised(event.name) { turn.changedWatches = true }
    if isObserved { turn.events.append(.request(record)) }
  }

  /// Tells observers about a run as it is now.
  func note(_ record: RunRecord) {
    if record.outcome != nil { turn.history.append(record) }
    if isObserved { turn.events.append(.run(record)) }
  }

  /// Undoes the changes in memory since `mark`, because a change was refused.
  func takeBack(to mark: EngineTurn.Mark) {
    let dropped = turn.takeBack(to: mark)
    for run in dropped.stopped { live[run]?.stopRequested = nil }
    takeBack(dropped.pluginHealth)
    takeBack(dropped.liveSteps)
    takeBack(dropped.tokensBefore)
    takeBack(dropped.wakesBefore)
    guard dropped.changedHandlers else { return }
    forgetAll()
  }

  /// Forgets what it knows about requests, so that the store is asked again.
  func forgetAll() {
    for handler in handlers.values { handler.forgetAll() }
    awaited = nil
    nextDeadline = .unknown
  }

  /// Begins a turn; `moment` is when, on the clock of budgets and waits.
  func beginTurn(at moment: MonotonicTime) {
    turn = EngineTurn()
    turn.changedWatches = watchesAreStale
    turnBegan = moment
  }

  /// Undoes the turn in memory after a failed commit, and forgets what the commit may have changed.
  func undoTurn(now: WallTime) {
    for entry in turn.started { notBegun(entry) }
    for run in turn.claimed {
      guard let claim = forget(run, now: now) else { continue }
      handlers[claim.entry.identifier]?.shares?.end(run, took: nil)
    }
    for entry in turn.ended {
      live[entry.run] = entry
      slotTaken(entry)
    }
    for entry in turn.neverBegun {
      live[entry.run] = entry
      slotTaken(entry)
      limits.handedOut(entry, now: now)
    }
    unrecorded.formUnion(turn.recorded)
    for claim in turn.released {
      keep(claim, now: now)
      if let handler = handlers[claim.entry.identifier] {
        handler.shares?.begin(claim.entry.run, of: handler.tenant(of: claim.entry.gates))
      }
    }
    for claim in turn.begun {
      if let entry = live[claim.entry.run] { notBegun(entry) }
      keep(claim, now: now)
    }
    for run in turn.withdrawals where claims[run]?.isAskedBack == true { setAsked(run, false) }
    conditionsChanged = true
    for run in turn.stopped { live[run]?.stopRequested = nil }
    takeBack(turn.pluginHealth)
    takeBack(turn.liveSteps)
    takeBack(turn.tokensBefore)
    takeBack(turn.wakesBefore)
    if let before = turn.pausesBefore { pauses = before }
    if let before = turn.objectivesBefore { objectives = before }
    if let before = turn.noticesBefore { notices = before }
    overdueFound = turn.overdueTaken + overdueFound
    forgetAll()
    watchesAreStale = true
    turn = EngineTurn()
  }

  /// Uncounts a run that did not begin.
  private func notBegun(_ entry: LiveRunEntry) {
    live.removeValue(forKey: entry.run)
    unrecorded.remove(entry.run)
    limits.give(entry)
    handlers[entry.identifier]?.shares?.end(entry.run, took: nil)
    recount(entry.identifier) { $0.recount(by: -1) }
    limits.letGo(entry.run)
  }

  private func takeBack(_ wakes: [(TaskIdentifier, RateLimiter?)]) {
    for (identifier, before) in wakes.reversed() { limits.set(before, wakesOf: identifier) }
  }

  // MARK: Live requests

  /// The number of live requests of an identifier; asks the store once.
  func liveCount(of identifier: TaskIdentifier, _ transaction: any StoreTransaction) throws -> Int {
    if let count = liveCounts[identifier] { return count }
    let count = try transaction.liveCount(of: identifier)
    liveCounts[identifier] = count
    return count
  }

  /// Counts live requests: 1 for a new one, −1 for one that has ended.
  func countLive(_ identifier: TaskIdentifier, by step: Int) {
    liveCounts[identifier] = liveCounts[identifier].map { max(0, $0 + step) }
    // Even if the count is unknown: the store may be asked later in this turn, and its answer then includes changes that may be undone.
    turn.countLive(identifier, by: step)
  }

  private func takeBack(_ steps: [(identifier: TaskIdentifier, step: Int)]) {
    for (identifier, step) in steps.reversed() { liveCounts[identifier] = liveCounts[identifier].map { max(0, $0 - step) } }
  }

  /// Finishes a durable turn: counts what only a durable turn counts, and returns the effects.
  func committed(now: WallTime) -> EngineTurn {
    for record in turn.history { limits.note(record) }
    noteSuccesses(turn.history)
    turn.objectives = reviewObjectives(now: now)
    noteOverdue(turn.objectives, now: now)
    forgetSurrendered()
    let committed = turn
    turn = EngineTurn()
    return committed
  }

  // MARK: Recovery

  /// Makes requests that the previous host process handed out ahead pending again, or running if their runs had begun.
  ///
  /// - Parameter begun: The runs that had begun, from the crash memory.
  private func recoverClaims(_ transaction: any StoreTransaction, begun: Set<RunID>, now: WallTime) throws {
    for var record in try transaction.claimed() {
      guard let run = record.run else { throw StoreError.corrupt("request \(record.id) is claimed without a run") }
      guard !begun.contains(run) else {
        try transaction.apply(.started(run, from: .claimed, at: now), to: record.id)
        continue
      }
      try record.apply(.released)
      try transaction.update(record)
    }
  }

  /// Makes the lanes of all pending requests.
  func findLanes(_ transaction: any StoreTransaction) throws {
    for lane in try transaction.lanesWithPending() {
      _ = handlers[lane.identifier]?.lane(lane.gates)
      if lane.gates.wakes { hasWaking = true }
    }
  }

  /// Ends the runs that are still recorded as running: they were lost with the previous host process, or crashed it. Restores the plugins'
  /// health.
  ///
  /// - Parameters:
  ///   - crashed: The runs that crashed the host, and what became of it: a sentence without its subject, and the stack below it.
  ///   - begun: The runs handed out ahead that had begun.
  /// - Returns: The number of lost runs.
  func recover(
    _ transaction: any StoreTransaction, crashed: [RunID: String] = [:], begun: Set<RunID> = [], now: WallTime
  ) throws -> Int {
    try recoverClaims(transaction, begun: begun.union(crashed.keys), now: now)
    let known = try transaction.pluginHealth()
    load(known, now: now)
    pauses = try PauseBook(try transaction.pauses())
    try loadObjectives(transaction, now: now)
    try findLanes(transaction)
    let running = try transaction.running()
    var lost = 0
    for record in running {
      guard let run = record.run else { throw StoreError.corrupt("request \(record.id) is running without a run") }
      var report = RunReport()
      if let trouble = crashed[run] {
        report.message = Self.hostCrash(trouble)
        report.trouble = trouble
        try conclude(record, run: run, ending: .crashed, report: report, transaction, now: now)
      } else {
        report.message = "the host ended while it ran"
        try conclude(record, run: run, ending: .lost, report: report, transaction, now: now)
        lost += 1
        Failpoint.lossSettled.hit()
      }
    }
    let struck = Self.pluginHealth(pluginHealth, afterHostDiedOf: crashed, among: running, retry: policy.retry, now: now)
    for (identifier, health) in struck where pluginHealth[identifier] != health {
      try change(identifier, to: health, incident: nil, transaction)
    }
    return lost
  }
}
