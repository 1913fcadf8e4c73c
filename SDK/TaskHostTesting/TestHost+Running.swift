import HostThreads
public import TaskHostSDK
import MemoryStore
import TaskModel
import TaskScheduler

extension TestHost {
  /// Submits a request, runs it now, and lets time pass until the run ends.
  ///
  /// - Parameters:
  ///   - identifier: The handler's identifier. Default: the first one registered.
  ///   - payload: The payload for the handler: a value that is encoded as JSON, `.json(…)`, or `[UInt8]` unchanged. Default: empty.
  ///   - conditions: The conditions that the request requires: see ``lose(_:)``.
  ///   - interruptions: What happens to the run from outside, and when.
  /// - Returns: What the run did. If it asks for another attempt, none follows: see ``runUntilDone(_:payload:conditions:maxAttempts:)``.
  /// - Throws: ``TestHostError/stuck(_:)`` when the handler blocks the clock for too long in real time; `EncodingError`.
  @discardableResult
  public func run(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: TaskHostSDK.Conditions = [],
    interruptions: [Interruption] = []
  ) async throws -> RunReport {
    try await launch(identifier, payload: payload, conditions: conditions, interruptions: interruptions).ended()
  }

  /// Submits a request and starts its run. The handler begins at once on its thread; virtual time stands still until your test waits.
  ///
  /// - Parameters: As ``run(_:payload:conditions:interruptions:)``.
  /// - Throws: ``TestHostError``, `EncodingError`.
  public func launch(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: TaskHostSDK.Conditions = [],
    interruptions: [Interruption] = []
  ) throws -> TestRun {
    try launch(requestID: try submit(identifier, payload: payload, conditions: conditions).id, interruptions: interruptions)
  }

  /// Starts a run of a pending request now, even if it is not due.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` when the request is not pending.
  public func launch(requestID: String, interruptions: [Interruption] = []) throws -> TestRun {
    TestRun(try core.start(try record(requestID).id, interruptions))
  }

  /// Submits a request as an application would, without running it.
  ///
  /// - Parameters:
  ///   - identifier: The handler's identifier. Default: the first one registered.
  ///   - payload: The payload for the handler: a value that is encoded as JSON, `.json(…)`, or `[UInt8]` unchanged. Default: empty.
  ///   - delay: The least virtual time before the run.
  ///   - conditions: The conditions that the request requires.
  ///   - uniqueKey: The request's unique name within its identifier.
  ///   - onConflict: What to do when a live request holds the unique key.
  /// - Returns: The new request, or the holder of the key if that was kept or updated.
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

  /// Submits a request without running it. ``TestRequest`` has every field that an application or an operator can set: repetitions,
  /// windows, events, predecessors.
  ///
  /// - Returns: The new request, or the holder of the key if that was kept or updated.
  /// - Throws: ``TestHostError/notPossible(_:)`` with the host's own sentence when a host would refuse the request.
  @discardableResult
  public func submit(_ request: TestRequest) throws -> HostedRequest {
    let submitted = try request.taskRequest(for: try identifier(request.identifier), now: core.clock.wallTime)
    // As it is before a run that it replaces has heard of it.
    return snapshot(try change { scheduler in try record(try scheduler.submit([submitted])[0].id.description) })
  }

  /// Posts an event: the requests that wait for it fall due, each after its debounce.
  ///
  /// - Parameter payload: The payload for the runs it wakes; `nil`: the payload that was submitted.
  /// - Returns: How many requests wait for the event.
  /// - Throws: ``TestHostError/notPossible(_:)``.
  @discardableResult
  public func post(_ event: String, payload: [UInt8]? = nil) throws -> Int {
    try change { try $0.notify(event, payload: payload).waiting }
  }

  /// Stands for a change of a file: the requests that watch it fall due, each after its debounce. A test host watches no files itself.
  ///
  /// - Parameter path: As in the request that waits for it.
  /// - Returns: How many requests wait for it.
  /// - Throws: ``TestHostError/notPossible(_:)``.
  @discardableResult
  public func changed(_ path: String) throws -> Int {
    try change { try $0.notify(EventTrigger.filePrefix + path, payload: nil).waiting }
  }

  /// Cancels a request: a waiting one ends, a running one is asked to stop.
  ///
  /// - Throws: ``TestHostError``.
  public func cancel(requestID: String) throws {
    let id = try record(requestID).id
    try change { try $0.cancel(id) }
  }

  /// Changes the scheduler and carries out the effects.
  func change<Value>(_ body: (SteppedScheduler) throws -> Value) throws -> Value {
    try core.monitor.locked {
      do {
        let value = try body(core.scheduler)
        core.carryOut()
        return value
      } catch let refusal as RequestRefusal { throw TestHostError(refusal) }
    }
  }

  /// Lets time pass until the request is due, starts its next attempt, and lets time pass until that run ends.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` when the request is not pending; the errors of
  ///   ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func rerun(_ requestID: String, interruptions: [Interruption] = []) async throws -> RunReport {
    let record = try record(requestID)
    try await core.wait(for: .moment(core.clock.elapsed(at: record.due)), "the request is due")
    return try await TestRun(core.start(record.id, interruptions)).ended()
  }

  /// Runs the next attempt of the request that a run served: see ``rerun(_:interruptions:)-(String,_)``.
  @discardableResult
  public func rerun(_ run: RunReport, interruptions: [Interruption] = []) async throws -> RunReport {
    try await rerun(run.requestID, interruptions: interruptions)
  }

  /// Lets time pass until the next request of this host is due, of any identifier, runs it, and lets time pass until the run ends. What
  /// delays a request in a host delays it here: its time, conditions, windows, rates, quotas, resources, predecessors, events.
  ///
  /// - Returns: What the run did; `nil` when no request waits for time alone.
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

  /// Lets time pass and starts every run that falls due, at its moment and with the host's concurrency: a day of a periodic task in one
  /// line. Runs that are live at the end stay live.
  ///
  /// - Returns: The runs it started, in the order of their start, as they are at the end.
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

  /// Submits a request and runs it until it has ended. Each attempt starts at the virtual moment at which the host would start it: after
  /// the delay that the handler asked for, after the backoff of a retry, one second after a snooze.
  ///
  /// - Parameter maxAttempts: The most runs, snoozes included; a request that needs more is returned unfinished.
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
  /// - Throws: ``TestHostError/nothingThere(_:)`` when the request does not exist.
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

  /// Returns a request as it is now.
  ///
  /// - Throws: ``TestHostError/nothingThere(_:)``.
  public func request(_ id: String) throws -> HostedRequest { snapshot(try record(id)) }

  /// All requests of this host, in the order of submission.
  public var requests: [HostedRequest] {
    core.requests().compactMap { try? core.store.request($0.id) }.map(snapshot)
  }

  /// The requests that wait for their run or for another request, in the order of submission.
  public var pendingRequests: [HostedRequest] { requests.filter { $0.state == .pending || $0.state == .blocked } }

  func record(_ id: String) throws -> RequestRecord {
    guard let known = RequestID(id), let record = try core.store.request(known) else {
      throw TestHostError.nothingThere("there is no request \(id)")
    }
    return record
  }

  func snapshot(_ record: RequestRecord) -> HostedRequest {
    let runs = core.monitor.locked { core.reports[record.id] ?? [] }
    return HostedRequest(
      id: record.id.description, submitted: SubmittedRequest(record.request), state: HostedRequest.State(record.state),
      attempt: record.state.isFinal ? runs.last?.attempt ?? record.attempt : record.attempt, due: core.clock.elapsed(at: record.due),
      checkpoint: (try? core.store.checkpoint(of: record.id)) ?? nil,
      runs: runs)
  }
}
