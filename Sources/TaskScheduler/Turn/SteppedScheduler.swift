package import TaskModel

/// The scheduling engine for a host that controls time: each call is one turn, on the calling thread.
///
/// It has no thread, so its owner must serialize the calls. Runs begin one at a time, when the owner says so.
package final class SteppedScheduler {
  /// Effects of turns whose commits are durable, for the owner to carry out.
  package struct Effects {
    /// Runs to begin.
    package var orders: [RunOrder] = []
    /// Runs to ask to stop.
    package var expirations: [(run: RunID, reason: StopReason)] = []
    /// Runs that ended.
    package var ended: [RunRecord] = []
  }

  private let engine: SchedulingEngine
  private let store: any RequestStore
  private let clock: any HostClock
  private var core: SchedulerCore { engine.core }
  private var effects = Effects()

  /// Creates a scheduler without retry jitter, on a store that no other host uses.
  package init(policy: SchedulingPolicy, store: any RequestStore, clock: any HostClock) throws(StoreError) {
    let core = SchedulerCore(
      policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: clock.wallTime, random: Halfway())
    core.permits = 0
    engine = SchedulingEngine(core, store: store)
    self.store = store
    self.clock = clock
  }

  /// Seals the registry and carries out what plugins asked for while they launched.
  ///
  /// - Parameters:
  ///   - rejection: Returns why a submission's payload is refused; nil accepts it.
  ///   - completions: What is submitted when requests of an identifier end.
  /// - Returns: The refused launch submissions.
  package func open(
    _ contracts: [HandlerContract], changes: [PluginLaunchChange], clocks: ClockReference,
    rejection: @escaping @Sendable (_ payload: [UInt8], TaskIdentifier) -> String?, completions: CompletionRule?
  ) throws(StoreError) -> [(TaskRequest, RequestRefusal)] {
    core.rejection = rejection
    core.completions = completions
    let opening = try engine.open(
      contracts, schedules: [:], changes: changes, clocks: clocks, now: clock.wallTime, at: clock.monotonicTime)
    return opening.refused
  }

  /// The effects since the last call.
  package func takeEffects() -> Effects {
    defer { effects = Effects() }
    return effects
  }

  private func turn(_ inputs: [EngineInput]) throws(RequestRefusal) {
    engine.retryStore()
    let turn: EngineTurn
    do { turn = try engine.turn(inputs, now: clock.wallTime, at: clock.monotonicTime) } catch { throw RequestRefusal(error.error) }
    effects.orders += turn.orders
    effects.expirations += turn.expirations.map { (run: $0.0, reason: $0.1) }
    effects.ended += turn.history
    for answer in turn.answers { answer() }
  }

  private func change<Value>(
    _ body: @escaping (SchedulerCore, any StoreTransaction, WallTime) throws -> Value
  ) throws(RequestRefusal) -> Value {
    var result: Result<Value, RequestRefusal>?
    try turn([.write(Write({ result = $0 }, body))])
    // Nothing is handed out ahead, so no change waits for a later turn.
    guard let result else { throw RequestRefusal(.internal, "a change was not answered") }
    return try result.get()
  }

  private func make<Value>(_ made: SchedulerChange<Value>, onBehalfOf run: RunReference) throws(RequestRefusal) -> Value {
    try change(made.onBehalf(of: run).perform)
  }

  // MARK: Requests

  /// Submits requests, all or none.
  package func submit(_ requests: [TaskRequest]) throws(RequestRefusal) -> [Submission] {
    try change { core, transaction, now in try core.submit(requests, transaction, now: now) }
  }

  /// Submits on behalf of a plugin's run, which must still be allowed to submit.
  ///
  /// - Parameter plugin: The first identifier that the plugin registered.
  package func submit(_ request: TaskRequest, from run: RunReference, by plugin: TaskIdentifier) throws(RequestRefusal) -> Submission {
    try make(.submit(request, by: plugin), onBehalfOf: run)
  }

  /// Cancels a request.
  package func cancel(_ id: RequestID, quietly: Bool = false) throws(RequestRefusal) {
    _ = try change { core, transaction, now in try core.cancel(id, quietly: quietly, transaction, now: now) }
  }

  /// Holds a request back.
  package func pause(_ id: RequestID, _ pause: RequestPause) throws(RequestRefusal) {
    _ = try change { core, transaction, now in try core.pause(id, pause, transaction, now: now) }
  }

  /// Lets a paused request go on.
  package func resume(_ id: RequestID, isPlugins: Bool = false) throws(RequestRefusal) {
    _ = try change { core, transaction, now in try core.resume(id, isPlugins: isPlugins, transaction, now: now) }
  }

  /// Records a run of a parked request, whose handler is not here, from its begin to its end.
  package func carryOut(_ id: RequestID, _ result: TaskResult, _ report: RunReport) throws(RequestRefusal) {
    try change { core, transaction, now in
      var record = try core.find(id, transaction)
      let run: RunID = core.nextID(now)
      try record.apply(.started)
      (record.run, record.started) = (run, now)
      try transaction.update(record)
      try core.conclude(record, run: run, ending: .returned(result, stop: nil), report: report, transaction, now: now)
    }
  }

  /// Cancels the pending requests of these identifiers on behalf of a run, which must still be allowed to.
  ///
  /// - Returns: The number of cancelled requests.
  package func cancelPending(of identifiers: [TaskIdentifier], from run: RunReference) throws(RequestRefusal) -> Int {
    try make(.cancelPending(of: identifiers), onBehalfOf: run)
  }

  /// Delivers an event. A given run must still be allowed to.
  package func notify(_ event: String, payload: [UInt8]?, from run: RunReference? = nil) throws(RequestRefusal) -> EventReceipt {
    try change { core, transaction, now in
      if let run { try core.checkMaySubmit(run.run, of: run.request, transaction) }
      return try core.notify(event, payload: payload, transaction, now: now)
    }
  }

  /// Postpones a waiting request on behalf of a run, which must still be allowed to.
  package func snooze(_ id: RequestID, until time: WallTime, from run: RunReference) throws(RequestRefusal) -> SnoozedRequest {
    try make(.snooze(id, until: time), onBehalfOf: run)
  }

  /// Replaces the fields of a live request on behalf of a run, which must still be allowed to.
  package func update(_ id: RequestID, with fields: TaskRequest, from run: RunReference) throws(RequestRefusal) -> Submission {
    try make(.update(id, with: fields), onBehalfOf: run)
  }

  /// Explains why a request is not running now, from its gates alone: the times at which they open are not forecast.
  package func explanation(of record: RequestRecord) throws(StoreError) -> RequestExplanation {
    let edges = record.request.after.isEmpty && record.blockedBy == nil ? [] : try store.edges(of: record.id)
    let obstacle = try RetryObstacle.find(for: record, edges: store.edges(of:), request: store.request(_:))
    return core.explanation(of: record, edges: edges, obstacle: obstacle, lastEnded: record.ended, now: clock.wallTime)
  }

  /// Writes a value of a plugin's state. A given run must still be its request's current run.
  package func setState(
    _ key: String, to value: [UInt8]?, of identifier: TaskIdentifier, from run: RunReference? = nil
  ) throws(RequestRefusal) {
    try change { _, transaction, _ in
      if let run { _ = try transaction.requestRunning(as: run.run, of: run.request) }
      try transaction.setState(key, to: value, of: identifier)
    }
  }

  /// Writes the checkpoint of a request. A given run must still be the request's current run.
  package func setCheckpoint(_ value: [UInt8]?, of request: RequestID, from run: RunReference? = nil) throws(RequestRefusal) {
    try change { _, transaction, _ in
      if let run { _ = try transaction.requestRunning(as: run.run, of: run.request) }
      try transaction.setCheckpoint(value, of: request)
    }
  }

  // MARK: Runs

  /// Starts a pending request now, regardless of its time and all gates. Refused if no handler can be called.
  package func start(_ id: RequestID) throws(RequestRefusal) {
    try change { core, transaction, now in try core.launch(id, transaction, now: now) }
  }

  /// Starts one due request that no gate holds, if there is one.
  ///
  /// - Returns: When to try again if none was started; nil if only an event can change that.
  package func startNext() throws(RequestRefusal) -> WallTime? {
    core.permits = 1
    defer { core.permits = 0 }
    try turn([])
    return core.nextTurn(now: clock.wallTime)
  }

  /// Receives the begin of a run that must report it.
  package func began(_ run: RunID) throws(RequestRefusal) { try turn([.began(run, clock.wallTime)]) }

  /// Receives the end of a run.
  package func ended(_ run: RunID, _ ending: RunEnding, _ report: RunReport) throws(RequestRefusal) {
    try turn([.ended(run, ending, report)])
  }

  // MARK: The machine

  /// Receives a change of the wall clock.
  package func clockChanged(_ reference: ClockReference) throws(RequestRefusal) {
    try change { core, transaction, now in try core.clockChanged(reference, slept: false, transaction, now: now) }
  }

  /// Receives the machine's current conditions. Asks runs that require a lost condition to stop.
  package func receive(_ report: ConditionReport) {
    core.conditions = report
    effects.expirations += core.runsThatLost(report).map { (run: $0, reason: .conditions) }
  }

  /// Starts no more runs and refuses submissions.
  package func drain() {
    core.isDraining = true
    core.drainingSince = core.drainingSince ?? clock.wallTime
  }
}

/// Draws the middle of every range: retries without jitter.
private struct Halfway: RandomNumberGenerator {
  mutating func next() -> UInt64 { 1 << 63 }
}
