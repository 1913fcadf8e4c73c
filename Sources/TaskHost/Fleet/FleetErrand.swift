import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// A change to requests of the fleet that no host runs: the agent's thread takes them, the scheduler changes them as its own, and they go
/// back.
struct FleetErrand: Sendable {
  /// Which requests are changed.
  enum Subject: Sendable {
    /// All of these, or nothing is done.
    case all([RequestID])
    /// Those of these that nobody has.
    case some([RequestID])
    /// Those that wait for an event, which others are told of when they are back.
    case waiting(event: String, payload: [UInt8]?)
  }

  /// What the scheduler has made of them.
  struct Visited: Sendable {
    let changed: [SurrenderedRequest]
    let added: [RequestRecord]
    /// Whether all that was taken has come to the scheduler; the rest goes back as it is.
    var isWhole = true
    /// Tells who asked.
    let tell: @Sendable () -> Void
  }

  let subject: Subject
  /// Whether a dead letter is left alone while another request has its unique key.
  var needsKey = false
  /// How many requests the change may add.
  var adds = 0
  /// The hash and the idempotency key of the submission that it may add.
  var idempotency: (key: String, fingerprint: UInt64)?
  let visit: @Sendable (Scheduler, [LeasedRequest], [RequestID], @escaping @Sendable (Result<Visited, RequestRefusal>) -> Void) -> Void
  let refuse: @Sendable (RequestRefusal) -> Void

  /// - Parameters:
  ///   - change: Gets the requests that were taken.
  ///   - completion: Called once the change is durable, or refused.
  init<Value: Sendable>(
    _ subject: Subject, _ change: @escaping @Sendable ([RequestID]) -> SchedulerChange<Value>,
    completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void
  ) {
    self.subject = subject
    visit = { scheduler, visitors, drawn, done in
      scheduler.visit(visitors, drawn: drawn, change(visitors.map(\.record.id))) { result in
        done(result.map { visit in Visited(changed: visit.changed, added: visit.added) { completion(.success(visit.value)) } })
      }
    }
    refuse = { completion(.failure($0)) }
  }
}

extension FleetExchanges {
  /// Runs an errand to its end.
  ///
  /// - Throws: If the database is away, or the lease has ended. Who asked knows it then.
  func run(_ errand: FleetErrand, _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    do throws(FleetError) {
      var result: Result<FleetErrand.Visited, RequestRefusal>
      do throws(FleetError) { result = try visit(errand, session, incarnation) } catch {
        guard case .refused(let why) = error else { throw error }
        result = .failure(RequestRefusal(.conflict, "the fleet's database did not take the change: \(why)"))
      }
      let isWhole = (try? result.get().isWhole) == true
      if !isWhole { _ = try session.giveBackUnknown(incarnation, besides: agent.held(as: incarnation)) }
      switch result {
      case .success(let visited): visited.tell()
      case .failure(let refusal): errand.refuse(refusal)
      }
    } catch {
      errand.refuse(FleetAgent.away("\(error); whether it was done is not known"))
      throw error
    }
  }

  private func visit(
    _ errand: FleetErrand, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Result<FleetErrand.Visited, RequestRefusal> {
    var taken: [ClaimedRequest]
    var visitors: [LeasedRequest] = []
    switch errand.subject {
    case .all(let ids):
      taken = try session.take(incarnation, ids)
      for id in ids where !taken.contains(where: { $0.id == id }) {
        guard let record = try session.request(id) else {
          return .failure(RequestRefusal(.notFound, "the fleet has no request \(id)"))
        }
        guard record.state == .succeeded || record.state == .cancelled else {
          return .failure(
            RequestRefusal(.conflict, "request \(id) has just changed, or a host of the fleet has it: look again, or wait for its end"))
        }
        // The scheduler says why an ended one cannot be changed.
        visitors.append(LeasedRequest(record))
      }
    case .some(let ids): taken = try session.take(incarnation, ids)
    case .waiting(let event, let payload):
      let ids = try session.waiting(forEvent: event)
      // First what others have: what comes back meanwhile is not missed.
      _ = try session.raise(event, payload: payload, for: ids, besides: incarnation)
      taken = try session.take(incarnation, ids)
    }
    let count = taken.count
    if errand.needsKey, let held = taken.first(where: \.isHeld) {
      if case .all = errand.subject {
        return .failure(RequestRefusal(.conflict, "another request has the unique key of \(held.id): cancel that one first"))
      }
      taken.removeAll(where: \.isHeld)
    }
    for claim in taken {
      switch claim.record {
      case .success(let record): visitors.append(LeasedRequest(record, eventPayload: claim.eventPayload, checkpoint: claim.checkpoint))
      case .failure(let flaw): agent.log.error("request \(claim.id) of the fleet cannot be read: \(flaw)")
      }
    }
    let drawn = try session.draw(errand.adds)
    let answer = Awaited<Result<FleetErrand.Visited, RequestRefusal>>()
    errand.visit(agent.scheduler, visitors, drawn) { answer.set($0) }
    switch answer.wait() {
    case .success(var visited):
      try settle(visited, of: errand, session, incarnation)
      visited.isWhole = visited.changed.count >= count
      return .success(visited)
    case .failure(let refusal): return .failure(refusal)
    }
  }

  private func settle(
    _ visited: FleetErrand.Visited, of errand: FleetErrand, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) {
    var settled: [SettledRequest] = []
    for request in visited.changed {
      var one = try settlement(request, session)
      one.hasNewPayload = true
      settled.append(one)
    }
    var drafts: [FleetDraft] = []
    for var record in visited.added {
      record.request.idempotencyKey = errand.idempotency?.key
      var draft = FleetDraft(
        record: record, lane: try laneID(record.lane, session), fingerprint: errand.idempotency?.fingerprint ?? 0)
      draft.isDrawn = true
      drafts.append(draft)
    }
    guard !settled.isEmpty || !drafts.isEmpty else { return }
    try session.settle(incarnation, settled, adding: drafts, heard: settled.map(\.record.id))
    try session.notify()
  }
}
