import HostThreads
public import TaskHostSDK
import MemoryStore
import TaskModel
import TaskScheduler

extension TestHost {
  /// Submits a request, runs it now, and lets time pass until that run has ended.
  ///
  /// - Parameters:
  ///   - identifier: Whose handler. Default: the only, or first, one registered.
  ///   - payload: What the handler is given: a value that is encoded as JSON, `.json(…)`, or `[UInt8]` as they are. Default: nothing.
  ///   - conditions: What the request requires: see ``lose(_:)``.
  ///   - interruptions: What happens to the run from outside, and when.
  /// - Returns: What it did. A run that asks to be run again is not: see ``runUntilDone(_:payload:conditions:maxAttempts:)``.
  /// - Throws: ``TestHostError/stuck(_:)`` when the handler keeps the clock from moving for too long in real time; `EncodingError`.
  @discardableResult
  public func run(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: TaskHostSDK.Conditions = [],
    interruptions: [Interruption] = []
  ) async throws -> RunReport {
    try await launch(identifier, payload: payload, conditions: conditions, interruptions: interruptions).ended()
  }

  /// Submits a request and starts its run. The handler begins at once, on its thread; time stands still until you wait for something.
  ///
  /// - Parameters: As ``run(_:payload:conditions:interruptions:)``.
  /// - Throws: ``TestHostError``, `EncodingError`.
  public func launch(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: TaskHostSDK.Conditions = [],
    interruptions: [Interruption] = []
  ) throws -> TestRun {
    try launch(requestID: try submit(identifier, payload: payload, conditions: conditions).id, interruptions: interruptions)
  }

  /// Starts a run of a pending request now, before its time if that has not come.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` when it is not pending.
  public func launch(requestID: String, interruptions: [Interruption] = []) throws -> TestRun {
    TestRun(try core.start(try record(requestID).id, interruptions))
  }

  /// Submits a request as an application would, without running it.
  ///
  /// - Parameters:
  ///   - identifier: Whose handler. Default: the only, or first, one registered.
  ///   - payload: What the handler is given: a value that is encoded as JSON, `.json(…)`, or `[UInt8]` as they are. Default: nothing.
  ///   - delay: Not before that much virtual time has passed.
  ///   - conditions: What must hold for it to run.
  ///   - uniqueKey: Its name within its identifier.
  ///   - onConflict: What to do when a live request holds the name.
  /// - Returns: The request; the holder, where it was kept or updated.
  /// - Throws: ``TestHostError``, `EncodingError`.
  @discardableResult
  public func submit(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), after delay: Duration = .zero,
    conditions: TaskHostSDK.Conditions = [],
    uniqueKey: String? = nil, onConflict: TaskHostSDK.ConflictPolicy = .none
  ) throws -> HostedRequest {
    var request = try TestRequest(identifier, payload: payload)
    request.delay = delay
    request.conditions = conditions
    request.uniqueKey = uniqueKey
    request.onConflict = onConflict
    return try submit(request)
  }

  /// Submits a request with all that an application or an operator can ask for, without running it: repetitions, windows, events,
  /// predecessors.
  ///
  /// - Returns: The request; the holder of its key, where it was kept or updated.
  /// - Throws: ``TestHostError/notPossible(_:)`` with the host's own sentence where the host would refuse it.
  @discardableResult
  public func submit(_ request: TestRequest) throws -> HostedRequest {
    let submitted = try request.taskRequest(for: try identifier(request.identifier), now: core.clock.wallTime)
    // As it is before a run that it replaces has heard of it.
    return snapshot(try change { scheduler in try record(try scheduler.submit([submitted])[0].id.description) })
  }

  /// An event comes: requests that wait for it fall due, each after its debounce.
  ///
  /// - Parameter payload: What the runs it wakes are given instead of what was submitted; `nil`: what was submitted.
  /// - Returns: How many requests wait for the event.
  /// - Throws: ``TestHostError/notPossible(_:)``.
  @discardableResult
  public func post(_ event: String, payload: [UInt8]? = nil) throws -> Int {
    try change { try $0.notify(event, payload: payload).waiting }
  }

  /// Cancels a request: one that waits ends, one that runs is asked to stop.
  ///
  /// - Throws: ``TestHostError``.
  public func cancel(requestID: String) throws {
    let id = try record(requestID).id
    try change { try $0.cancel(id) }
  }

  /// A change of the scheduler's, and what follows from it.
  func change<Value>(_ body: (SteppedScheduler) throws -> Value) throws -> Value {
    try core.monitor.locked {
      do {
        let value = try body(core.scheduler)
        core.carryOut()
        return value
      } catch let refusal as RequestRefusal { throw TestHostError(refusal) }
    }
  }

  /// Lets time pass until the request is due, runs it, and lets time pass until that run has ended: its next attempt.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` when the request is not pending; as ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func rerun(_ requestID: String, interruptions: [Interruption] = []) async throws -> RunReport {
    let record = try record(requestID)
    try await core.wait(for: .moment(core.clock.elapsed(at: record.due)), "the request is due")
    return try await TestRun(core.start(record.id, interruptions)).ended()
  }

  /// The next attempt of the request that a run served: see ``rerun(_:interruptions:)-(String,_)``.
  @discardableResult
  public func rerun(_ run: RunReport, interruptions: [Interruption] = []) async throws -> RunReport {
    try await rerun(run.requestID, interruptions: interruptions)
  }

  /// Runs the request that the host would run next, of any identifier of this host, and lets time pass until then and until it has ended.
  /// What holds a request in a host holds it here: its time, conditions, its window, rates, quotas, resources, predecessors, events.
  ///
  /// - Returns: What it did; `nil` when nothing waits for time alone.
  /// - Throws: As ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func runNext(interruptions: [Interruption] = []) async throws -> RunReport? {
    while true {
      // Counted first: the end of a run while the scheduler looks is seen by the wait.
      let ended = core.monitor.locked { core.endedRuns }
      let (run, retry) = try core.startNext(interruptions)
      if let run { return try await TestRun(run).ended() }
      let isIdle = core.monitor.locked { core.runs.isEmpty && core.endedRuns == ended }
      if isIdle, retry == nil { return nil }
      try await core.wait(for: .runEnd(ended, by: retry), "the next request is due")
    }
  }

  /// Lets that much time pass, and begins every run that falls due meanwhile, at its moment and as many at once as the host would: a day of
  /// a periodic task in one line. Runs that are live at the end stay so.
  ///
  /// - Returns: The runs it began, as they are at the end, in the order of their beginning.
  /// - Throws: As ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func runDue(for duration: Duration) async throws -> [RunReport] {
    let end = core.clock.elapsed + max(.zero, duration)
    var begun: [RunState] = []
    while true {
      let ended = core.monitor.locked { core.endedRuns }
      let (run, retry) = try core.startNext([])
      if let run {
        begun.append(run)
        continue
      }
      if core.clock.elapsed >= end { break }
      try await core.wait(for: .runEnd(ended, by: min(end, retry ?? end)), "runDue(for: \(duration))")
    }
    try await core.wait(for: .moment(end), "runDue(for: \(duration))")
    return core.monitor.locked { begun.map(\.report) }
  }

  /// Submits a request and runs it until it has ended, each attempt at the virtual moment at which the host would: after the delay the
  /// handler asked for, the backoff of a retry, the second of a snooze.
  ///
  /// - Parameter maxAttempts: The most runs, snoozes included; a request that needs more is returned as it is then.
  /// - Returns: The request, with all its runs.
  /// - Throws: As ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func runUntilDone(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: TaskHostSDK.Conditions = [], maxAttempts: Int = 100
  ) async throws -> HostedRequest {
    try await runUntilDone(try submit(identifier, payload: payload, conditions: conditions).id, maxAttempts: maxAttempts)
  }

  /// Runs a request until it has ended: see ``runUntilDone(_:payload:conditions:maxAttempts:)``.
  ///
  /// - Throws: ``TestHostError/nothingThere(_:)`` when there is no such request.
  @discardableResult
  public func runUntilDone(requestID: String, maxAttempts: Int = 100) async throws -> HostedRequest {
    try await runUntilDone(requestID, maxAttempts: maxAttempts)
  }

  private func runUntilDone(_ id: String, maxAttempts: Int) async throws -> HostedRequest {
    for _ in 0..<maxAttempts {
      guard try request(id).state == .pending else { break }
      try await rerun(id)
    }
    return try request(id)
  }

  /// A request as it is now.
  ///
  /// - Throws: ``TestHostError/nothingThere(_:)``.
  public func request(_ id: String) throws -> HostedRequest { snapshot(try record(id)) }

  /// All requests of this host, in the order of their submission.
  public var requests: [HostedRequest] {
    core.requests().compactMap { try? core.store.request($0.id) }.map(snapshot)
  }

  /// The requests that wait for their run or for another request, in the order of their submission.
  public var pendingRequests: [HostedRequest] { requests.filter { $0.state == .pending || $0.state == .blocked } }

  /// A request as the store has it.
  func record(_ id: String) throws -> RequestRecord {
    guard let known = RequestID(id), let record = try core.store.request(known) else {
      throw TestHostError.nothingThere("there is no request \(id)")
    }
    return record
  }

  private func snapshot(_ record: RequestRecord) -> HostedRequest {
    let runs = core.monitor.locked { core.reports[record.id] ?? [] }
    return HostedRequest(
      id: record.id.description, submitted: SubmittedRequest(record.request), state: HostedRequest.State(record.state),
      attempt: record.state.isFinal ? runs.last?.attempt ?? record.attempt : record.attempt, due: core.clock.elapsed(at: record.due),
      checkpoint: (try? core.store.checkpoint(of: record.id)) ?? nil,
      runs: runs)
  }
}
