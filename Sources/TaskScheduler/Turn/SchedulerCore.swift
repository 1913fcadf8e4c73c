import Failpoints
import TaskModel

/// Decides what runs when. It has no thread, no clock and no I/O of its own: each step works on a transaction and a time it is given, so
/// a day of scheduling is tested in milliseconds.
///
/// What it keeps in memory speeds up its decisions and can be thrown away; the store is the truth.
final class SchedulerCore {
  let policy: SchedulingPolicy
  var handlers: [TaskIdentifier: HandlerState] = [:]
  /// The runs that have begun.
  var live: [RunID: LiveRunEntry] = [:]
  /// Those of them whose requests are recorded as claimed still.
  var unrecorded: Set<RunID> = []
  /// What is handed out ahead of its begin. Changed by `keep` and `forget`, but for whether it is asked back.
  var claims: [RunID: Claim] = [:]
  /// How many of those are held until their time.
  private(set) var heldClaims = 0
  /// What counts against plugins; those that did nothing wrong are not in it. Changed by `change` only, so that it can be taken back.
  var pluginHealth: [TaskIdentifier: PluginHealth] = [:]
  /// The mishap that counted last against each plugin.
  var incidents: [TaskIdentifier: UInt64] = [:]
  /// The newest run that was handed out when a mishap counted last against each plugin.
  var newestAtFailure: [TaskIdentifier: RunID] = [:]
  /// Slots of the host that are taken.
  private(set) var occupiedSlots = 0
  /// No new runs.
  var isDraining = false
  /// Since when; nil: it does not drain, or that is not known.
  var drainingSince: WallTime?
  /// How many more runs may begin; nil: as many as there is room for. A host that is stepped allows them one at a time.
  var permits: Int?
  /// The store failed: no new runs until it works again.
  var storeTrouble: StoreError?
  /// Since when; nil: it works, or that is not known.
  var storeTroubleSince: WallTime?
  /// When this host began.
  let begun: WallTime
  /// What is wrong with a payload for an identifier's handler; nil: nothing. See ``Scheduler``'s start.
  var rejection: @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }
  /// Whether events are gathered.
  var isObserved = false
  var turn = EngineTurn()
  /// When it began, on the clock of budgets and waits.
  private(set) var turnBegan = MonotonicTime(nanoseconds: 0)
  var endedRuns = EndedRuns()
  /// What is known of the machine's conditions; nil: nothing is, and they count as held.
  var conditions: ConditionReport? { didSet { conditionsChanged = true } }
  /// What is handed out ahead has not been compared with the conditions.
  var conditionsChanged = false
  /// Requests that others wait for, and perhaps some nobody waits for any more; nil: the store must be asked.
  var awaited: Set<RequestID>?
  /// The first deadline of a pending request; nil: the store must be asked.
  var nextDeadline: NextDue = .unknown
  /// What was due before then passed while nobody could run it: the host was not there, or the machine slept.
  var awakeSince: WallTime
  let occurrences: Occurrences
  let windows: WindowBook
  var limits: LimitTracker
  /// How many requests are live, of the identifiers of which it was asked.
  private(set) var liveCounts: [TaskIdentifier: Int] = [:]
  /// Whether requests wait for changes of files.
  var watchesFiles = false
  /// The identifiers whose submissions without a time were made to wait, and of which that was said.
  var paced: Set<TaskIdentifier> = []
  /// How often the store was asked what is due in a lane: most of the work of a turn where there are many.
  private(set) var laneQuestions = 0
  /// What became of events since the host began.
  var eventCounts = EventCounts()
  private var ids: RecordIDGenerator
  let origin: UInt64
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

  /// A handler takes no runs from now on, for that reason; nil: it does again.
  func suspend(_ identifier: TaskIdentifier, _ reason: String?, now: WallTime) {
    guard let handler = handlers[identifier] else { return }
    handler.suspendedSince = reason == nil ? nil : handler.suspendedSince ?? now
    handler.suspension = reason
  }

  func nextID<Kind>(_ now: WallTime) -> RecordID<Kind> { RecordID(sequence: ids.next(at: now), origin: origin) }

  /// −1 … 1, for the retry policy.
  func jitter() -> Double { Double.random(in: -1...1, using: &random) }

  /// The store is asked about a lane.
  func noteQuestion() { laneQuestions &+= 1 }

  /// The handlers that the sealed registry has.
  func register(_ contracts: [HandlerContract]) {
    for contract in contracts { handlers[contract.identifier] = HandlerState(contract: contract) }
  }

  /// A run is given to the launcher to begin.
  func slotTaken(_ entry: LiveRunEntry) {
    limits.take(entry)
    recount(entry.identifier) { $0.runBegan(at: entry.started) }
  }

  /// A run has ended; `took` is the time of the handler's call, nil where it is not known.
  func slotFreed(_ entry: LiveRunEntry, took: Duration?, now: WallTime) {
    limits.give(entry)
    recount(entry.identifier) { $0.runEnded(took: took, now: now) }
  }

  /// Remembers what is handed out ahead.
  func keep(_ claim: Claim, now: WallTime) {
    claims[claim.entry.run] = claim
    if claim.isHeld { heldClaims += 1 }
    recount(claim.entry.identifier) { $0.claimed(claim, now: now) }
  }

  /// What was handed out ahead has begun, or is taken back.
  ///
  /// - Returns: Nil: it was not handed out ahead.
  func forget(_ run: RunID, now: WallTime) -> Claim? {
    guard let claim = claims.removeValue(forKey: run) else { return nil }
    if claim.isHeld { heldClaims -= 1 }
    recount(claim.entry.identifier) { $0.unclaimed(claim, now: now) }
    return claim
  }

  private func recount(_ identifier: TaskIdentifier, _ change: (HandlerState) -> Void) {
    guard let handler = handlers[identifier] else { return }
    occupiedSlots -= handler.occupiedSlots
    change(handler)
    occupiedSlots += handler.occupiedSlots
  }

  /// Tells observers about a request as it is now.
  func note(_ record: RequestRecord) {
    if record.request.event?.path != nil { turn.changedWatches = true }
    if isObserved { turn.events.append(.request(record)) }
  }

  /// Tells observers about a run as it is now.
  func note(_ record: RunRecord) {
    if record.outcome != nil { turn.history.append(record) }
    if isObserved { turn.events.append(.run(record)) }
  }

  /// One change of the turn was refused: what it changed in memory since `mark` is taken back.
  func takeBack(to mark: EngineTurn.Mark) {
    let dropped = turn.takeBack(to: mark)
    for run in dropped.stopped { live[run]?.stopRequested = nil }
    takeBack(dropped.pluginHealth)
    takeBack(dropped.liveSteps)
    guard dropped.changedHandlers else { return }
    forgetAll()
  }

  /// What is remembered of requests may be wrong: the store is asked again.
  func forgetAll() {
    for handler in handlers.values { handler.forgetAll() }
    awaited = nil
    nextDeadline = .unknown
  }

  /// Begins a turn; `moment` is when, on the clock of budgets and waits.
  func beginTurn(at moment: MonotonicTime) {
    turn = EngineTurn()
    turnBegan = moment
  }

  /// The turn's commit failed: what it changed in memory is taken back, what it may have changed is asked for anew.
  func undoTurn(now: WallTime) {
    for entry in turn.started { notBegun(entry) }
    for run in turn.claimed { _ = forget(run, now: now) }
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
    for claim in turn.released { keep(claim, now: now) }
    for claim in turn.begun {
      if let entry = live[claim.entry.run] { notBegun(entry) }
      keep(claim, now: now)
    }
    for run in turn.withdrawals where claims[run]?.isAskedBack == true { setAsked(run, false) }
    conditionsChanged = true
    for run in turn.stopped { live[run]?.stopRequested = nil }
    takeBack(turn.pluginHealth)
    takeBack(turn.liveSteps)
    forgetAll()
    turn = EngineTurn()
  }

  /// A run that was counted has not begun.
  private func notBegun(_ entry: LiveRunEntry) {
    live.removeValue(forKey: entry.run)
    unrecorded.remove(entry.run)
    limits.give(entry)
    recount(entry.identifier) { $0.recount(by: -1) }
    limits.letGo(entry.run)
  }

  // MARK: How many requests are live

  /// How many requests of an identifier are live; the store is asked once.
  func liveCount(of identifier: TaskIdentifier, _ transaction: any StoreTransaction) throws -> Int {
    if let count = liveCounts[identifier] { return count }
    let count = try transaction.liveCount(of: identifier)
    liveCounts[identifier] = count
    return count
  }

  /// One live request more, or one less.
  func countLive(_ identifier: TaskIdentifier, by step: Int) {
    liveCounts[identifier] = liveCounts[identifier].map { max(0, $0 + step) }
    // Also where it is not known: the store may be asked later in this turn, and what is taken back then is in its answer.
    turn.countLive(identifier, by: step)
  }

  private func takeBack(_ steps: [(identifier: TaskIdentifier, step: Int)]) {
    for (identifier, step) in steps.reversed() { liveCounts[identifier] = liveCounts[identifier].map { max(0, $0 - step) } }
  }

  /// The turn is durable: what counts only then is counted, and what is to be carried out is handed over.
  func committed() -> EngineTurn {
    for record in turn.history { limits.note(record) }
    let committed = turn
    turn = EngineTurn()
    return committed
  }

  // MARK: Recovery

  /// What was handed out ahead when the host before ended is pending again; but what had begun since was running.
  ///
  /// - Parameter begun: The runs that had begun, as the crash memory knows them.
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

  /// Runs that are recorded as running when a host begins were lost with the one before, or took it along. What is known of the plugins'
  /// health is taken over.
  ///
  /// - Parameters:
  ///   - crashed: The runs that took the host along, with the signal and the stack.
  ///   - begun: The runs that had begun of those that were handed out ahead.
  /// - Returns: How many there were besides.
  func recover(
    _ transaction: any StoreTransaction, crashed: [RunID: String] = [:], begun: Set<RunID> = [], now: WallTime
  ) throws -> Int {
    try recoverClaims(transaction, begun: begun.union(crashed.keys), now: now)
    let known = try transaction.pluginHealth()
    load(known, now: now)
    for lane in try transaction.lanesWithPending() { _ = handlers[lane.identifier]?.lane(lane.gates) }
    let running = try transaction.running()
    var lost = 0
    for record in running {
      guard let run = record.run else { throw StoreError.corrupt("request \(record.id) is running without a run") }
      var report = RunReport()
      if let trouble = crashed[run] {
        report.message = "it took the host along: \(Self.firstLine(trouble))"
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
