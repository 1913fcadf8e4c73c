public import TaskHostSDK

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
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: Conditions = [], interruptions: [Interruption] = []
  ) async throws -> RunReport {
    try await launch(identifier, payload: payload, conditions: conditions, interruptions: interruptions).ended()
  }

  /// Submits a request and starts its run. The handler begins at once, on its thread; time stands still until you wait for something.
  ///
  /// - Parameters: As ``run(_:payload:conditions:interruptions:)``.
  /// - Throws: ``TestHostError``, `EncodingError`.
  public func launch(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: Conditions = [], interruptions: [Interruption] = []
  ) throws -> TestRun {
    TestRun(try core.start(try submit(identifier, payload: payload, conditions: conditions).id, interruptions))
  }

  /// Starts a run of a pending request now, before its time if that has not come.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` when it is not pending.
  public func launch(requestID: String, interruptions: [Interruption] = []) throws -> TestRun {
    TestRun(try core.start(requestID, interruptions))
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
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), after delay: Duration = .zero, conditions: Conditions = [],
    uniqueKey: String? = nil, onConflict: ConflictPolicy = .none
  ) throws -> HostedRequest {
    let identifier = try self.identifier(identifier)
    let bytes = try TestJSON.bytes(of: payload)
    guard bytes.count <= Borrowed.payloadLimit else {
      throw TestHostError.notPossible("the payload has \(bytes.count) bytes, more than \(Borrowed.payloadLimit)")
    }
    return try core.monitor.locked {
      let begin = delay > .zero ? core.wallMilliseconds + delay.wholeMilliseconds : nil
      let request = SubmittedRequest(
        identifier: identifier, payload: bytes, earliestBeginUnixMilliseconds: begin, uniqueKey: uniqueKey, onConflict: onConflict,
        conditions: conditions)
      do throws(CallFailure) {
        let id = try core.accept(request).id
        guard let record = core.requests[id] else { throw CallFailure.stale }
        return core.snapshot(record)
      } catch {
        throw TestHostError.notPossible(error.message)
      }
    }
  }

  /// Lets time pass until the request is due, runs it, and lets time pass until that run has ended: its next attempt.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` when the request is not pending; as ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func rerun(_ requestID: String, interruptions: [Interruption] = []) async throws -> RunReport {
    let due = try core.monitor.locked { () throws(TestHostError) in
      guard let record = core.requests[requestID] else { throw TestHostError.nothingThere("there is no request \(requestID)") }
      return core.moment(record.due)
    }
    try await core.wait(for: .moment(due), "the request is due")
    return try await TestRun(core.start(requestID, interruptions)).ended()
  }

  /// The next attempt of the request that a run served: see ``rerun(_:interruptions:)-(String,_)``.
  @discardableResult
  public func rerun(_ run: RunReport, interruptions: [Interruption] = []) async throws -> RunReport {
    try await rerun(run.requestID, interruptions: interruptions)
  }

  /// Runs the pending request that is due first, of any identifier of this host, and lets time pass until then and until it has ended.
  /// Requests whose conditions do not hold are passed over.
  ///
  /// - Returns: What it did; `nil` when nothing is pending.
  /// - Throws: As ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func runNext(interruptions: [Interruption] = []) async throws -> RunReport? {
    guard let next = core.monitor.locked({ core.next()?.id }) else { return nil }
    return try await rerun(next, interruptions: interruptions)
  }

  /// Submits a request and runs it until it has ended, each attempt at the virtual moment at which the host would: after the delay the
  /// handler asked for, the backoff of a retry, the second of a snooze.
  ///
  /// - Parameter maxAttempts: The most runs, snoozes included; a request that needs more is returned as it is then.
  /// - Returns: The request, with all its runs.
  /// - Throws: As ``run(_:payload:conditions:interruptions:)``.
  @discardableResult
  public func runUntilDone(
    _ identifier: String? = nil, payload: some Encodable = [UInt8](), conditions: Conditions = [], maxAttempts: Int = 100
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
  public func request(_ id: String) throws -> HostedRequest {
    try core.monitor.locked {
      guard let record = core.requests[id] else { throw TestHostError.nothingThere("there is no request \(id)") }
      return core.snapshot(record)
    }
  }

  /// All requests of this host, in the order of their submission.
  public var requests: [HostedRequest] {
    core.monitor.locked { core.requestOrder.compactMap { core.requests[$0] }.map(core.snapshot) }
  }

  /// The requests that wait for their run or for another request, in the order of their submission.
  public var pendingRequests: [HostedRequest] { requests.filter { $0.state == .pending || $0.state == .blocked } }
}
