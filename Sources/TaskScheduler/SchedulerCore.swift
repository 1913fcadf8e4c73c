import TaskModel

/// Decides what runs when. It has no thread, no clock and no I/O of its own: each step works on a transaction and a time it is given, so
/// a day of scheduling is tested in milliseconds.
///
/// What it keeps in memory speeds up its decisions and can be thrown away; the store is the truth.
final class SchedulerCore {
  let policy: SchedulingPolicy
  var handlers: [TaskIdentifier: HandlerState] = [:]
  var live: [RunID: LiveRunEntry] = [:]
  /// What counts against plugins; those that did nothing wrong are not in it. Changed by `change` only, so that it can be taken back.
  var standings: [TaskIdentifier: Standing] = [:]
  /// The mishap that counted last against each plugin.
  var incidents: [TaskIdentifier: UInt64] = [:]
  /// Slots of the host that are taken.
  private(set) var occupiedSlots = 0
  /// No new runs.
  var isDraining = false
  /// The store failed: no new runs until it works again.
  var storeTrouble: StoreError?
  /// What is wrong with a payload for an identifier's handler; nil: nothing. See ``Scheduler/start(contracts:schedules:changes:objection:crashed:)``.
  var objection: @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }
  /// Whether events are gathered.
  var isObserved = false
  var turn = Turn()
  private var ids: RecordIDGenerator
  let origin: UInt64
  private var random: any RandomNumberGenerator

  init(policy: SchedulingPolicy, origin: UInt64, lastSequence: Int64, random: any RandomNumberGenerator = SystemRandomNumberGenerator()) {
    self.policy = policy
    self.origin = origin
    ids = RecordIDGenerator(after: lastSequence)
    self.random = random
  }

  func nextID<Kind>(_ now: WallTime) -> RecordID<Kind> { RecordID(sequence: ids.next(at: now), origin: origin) }

  /// −1 … 1, for the retry policy.
  func jitter() -> Double { Double.random(in: -1...1, using: &random) }

  /// The handlers that the sealed registry has.
  func register(_ contracts: [HandlerContract]) {
    for contract in contracts { handlers[contract.identifier] = HandlerState(contract: contract) }
  }

  /// A run of the handler is given to the launcher.
  func slotTaken(_ identifier: TaskIdentifier) {
    guard let handler = handlers[identifier] else { return }
    occupiedSlots -= handler.occupiedSlots
    handler.runBegan()
    occupiedSlots += handler.occupiedSlots
  }

  /// A run of the handler has ended; `took` is the time of the handler's call, nil where it is not known.
  func slotFreed(_ identifier: TaskIdentifier, took: Duration?) {
    guard let handler = handlers[identifier] else { return }
    occupiedSlots -= handler.occupiedSlots
    handler.runEnded(took: took)
    occupiedSlots += handler.occupiedSlots
  }

  /// Tells observers about a request as it is now.
  func note(_ record: RequestRecord) { if isObserved { turn.events.append(.request(record)) } }

  /// Tells observers about a run as it is now.
  func note(_ record: RunRecord) {
    if record.outcome != nil { turn.history.append(record) }
    if isObserved { turn.events.append(.run(record)) }
  }

  /// One change of the turn was refused: what it changed in memory since `mark` is taken back.
  func takeBack(to mark: Turn.Mark) {
    let (stopped, standings, changedHandlers) = turn.takeBack(to: mark)
    for run in stopped { live[run]?.stopRequested = nil }
    takeBack(standings)
    guard changedHandlers else { return }
    for handler in handlers.values {
      handler.nextDue = .unknown
      handler.liveRequests = nil
    }
  }

  /// Begins a turn; what the last one led to is handed over.
  func beginTurn() { turn = Turn() }

  /// The turn's commit failed: what it changed in memory is taken back, what it may have changed is asked for anew.
  func undoTurn() {
    for entry in turn.started {
      live.removeValue(forKey: entry.run)
      slotFreed(entry.identifier, took: nil)
    }
    for entry in turn.ended {
      live[entry.run] = entry
      slotTaken(entry.identifier)
    }
    for run in turn.stopped { live[run]?.stopRequested = nil }
    takeBack(turn.standings)
    for handler in handlers.values {
      handler.nextDue = .unknown
      handler.liveRequests = nil
    }
    turn = Turn()
  }

  // MARK: Recovery

  /// Runs that are recorded as running when a host begins were lost with the one before, or took it along. What is known of the plugins'
  /// standing is taken over.
  ///
  /// - Parameter crashed: The runs that took the host along, with the signal and the stack.
  /// - Returns: How many there were besides.
  func recover(_ transaction: any StoreTransaction, crashed: [RunID: String] = [:], now: WallTime) throws -> Int {
    let known = try transaction.standings()
    load(known, now: now)
    let running = try transaction.running()
    var lost = 0
    for record in running {
      guard let run = record.run else { throw StoreError.corrupt("request \(record.id) is running without a run") }
      var report = RunReport()
      report.stopReason = record.stopRequested
      if let trouble = crashed[run] {
        report.message = "it took the host along: \(Self.firstLine(trouble))"
        report.trouble = trouble
        try conclude(record, run: run, ending: .crashed, report: report, transaction, now: now)
      } else {
        report.message = "the host ended while it ran"
        try conclude(record, run: run, ending: .lost, report: report, transaction, now: now)
        lost += 1
      }
    }
    let struck = Self.standings(standings, afterHostDiedOf: crashed, among: running, retry: policy.retry, now: now)
    for (identifier, standing) in struck where standings[identifier] != standing {
      try change(identifier, to: standing, incident: nil, transaction)
    }
    return lost
  }
}
