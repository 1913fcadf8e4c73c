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
    /// Those of these that nobody has. Those that others have hear of the event, if there is one, when they are back.
    case some([RequestID], hearing: FleetEvent? = nil)
    /// The same for all that wait for an event.
    case waiting(FleetEvent)
    /// Those that hold the keys of a submission. It is told of its predecessors.
    case submission([TaskRequest])
  }

  /// Of which events the requests know afterwards: they need not be woken by them again.
  enum Heard: Sendable {
    case nothing
    /// Of all that were noted before.
    case allBefore
    case only(FleetEvent)
  }

  /// What the scheduler has made of them.
  struct Visited: Sendable {
    let changed: [SurrenderedRequest]
    let added: [SurrenderedRequest]
    let keys: [RequestID: FleetSubmissionKey]
    let moves: FleetKeyMoves
    /// What observers are to be told once the database has it.
    let events: [HostEvent]
    /// Whether all that was taken has come to the scheduler; the rest goes back as it is.
    var isWhole = true
    /// See ``FleetGathering/noted``.
    var noted = 0
    /// What is left for another turn: the requests are more than the database gives and takes at once.
    var rest: Subject?
    /// Adds the result of this part. After the last part, it answers whoever asked for the change.
    let tell: @Sendable (_ isLast: Bool) -> Void
  }

  var subject: Subject
  /// Whether dead letters are to live again: those that failed because of them come along.
  var revives = false
  var heard = Heard.nothing
  /// Whether it only decides on requests whose predecessors have ended.
  var decides = false
  /// Gets ``FleetGathering/noted`` of each part that is done.
  var noted: @Sendable (Int) -> Void = { _ in }
  /// The plugin whose submission it is; nil for a client's.
  var plugin: TaskIdentifier?
  /// Whether its submission was counted when it arrived, see ``FleetBound``.
  var isCounted = false
  /// Gets what was gathered, and which of the requests the change is for.
  let visit: @Sendable (Scheduler, FleetVisitors, [RequestID], @escaping @Sendable (Result<Visited, RequestRefusal>) -> Void) -> Void
  let refuse: @Sendable (RequestRefusal) -> Void

  /// - Parameters:
  ///   - change: Gets the requests that were taken, or a part of them.
  ///   - adding: Adds up the results of two parts.
  ///   - completion: Called once the change is durable, or refused.
  init<Value: Sendable>(
    _ subject: Subject, _ change: @escaping @Sendable ([RequestID]) -> SchedulerChange<Value>,
    adding: @escaping @Sendable (Value, Value) -> Value = { $1 }, completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void
  ) {
    self.subject = subject
    let sum = Guarded<Value?>(nil)
    visit = { scheduler, visitors, ids, done in
      scheduler.visit(visitors, change(ids)) { result in
        done(
          result.map { visit in
            Visited(changed: visit.changed, added: visit.added, keys: visit.keys, moves: visit.moves, events: visit.events) { isLast in
              let value = sum.withLock { sum in
                let value = sum.map { adding($0, visit.value) } ?? visit.value
                sum = value
                return value
              }
              if isLast { completion(.success(value)) }
            }
          })
      }
    }
    refuse = { completion(.failure($0)) }
  }
}

extension FleetErrand {
  /// Whether it is a submission, and not a change.
  var submits: Bool { if case .submission = subject { true } else { false } }

  /// The fleet cannot be asked.
  func refuse(because reason: String) { refuse(FleetAgent.away(reason, submits: submits)) }
}

extension FleetKeyChanges {
  /// What the scheduler holds for a while, as the database is told.
  init(held: [HeldKey]) {
    self.init()
    self.held = held.map { ($0.identifier, $0.key, $0.request, $0.length) }
  }
}

extension FleetExchanges {
  /// How often an errand is tried if what it looks at changes meanwhile.
  private static let mostTries = 10

  /// Runs an errand to its end.
  ///
  /// - Throws: If the database is away, or the lease has ended. Who asked knows it then.
  func run(_ errand: FleetErrand, _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    do throws(FleetError) {
      if case .submission(let requests) = errand.subject, !errand.isCounted,
        let refusal = try agent.bound.add(
          requests.lazy.map(\.identifier), hasKeys: requests.contains(where: \.hasKeys), by: errand.plugin, session, requests: { requests })
      {
        return errand.refuse(refusal)
      }
      var result: Result<FleetErrand.Visited, RequestRefusal>
      var triesLeft = Self.mostTries
      repeat {
        triesLeft -= 1
        do throws(FleetError) { result = try visit(errand, session, incarnation) } catch {
          guard let refusal = Self.refusal(of: error) else { throw error }
          result = .failure(refusal)
          // Waiting for another transaction again would hold up all that the host has for its fleet.
          if error != .changed { triesLeft = 0 }
          _ = try session.giveBackUnknown(incarnation, besides: agent.held(as: incarnation))
          continue
        }
        triesLeft = 0
        let isWhole = (try? result.get().isWhole) == true
        if !isWhole { _ = try session.giveBackUnknown(incarnation, besides: agent.held(as: incarnation)) }
      } while triesLeft > 0
      switch result {
      case .success(let visited):
        errand.noted(visited.noted)
        visited.tell(visited.rest == nil)
        if let rest = visited.rest {
          var errand = errand
          errand.subject = rest
          agent.add(errand)
        }
      case .failure(let refusal): errand.refuse(refusal)
      }
    } catch {
      errand.refuse(because: "\(error); whether it was done is not known")
      throw error
    }
  }

  /// The refusal of a change that the database did not make; nil if the connection is of no more use.
  static func refusal(of error: FleetError) -> RequestRefusal? {
    switch error {
    case .changed, .locked, .barred, .unpermitted: RequestRefusal(.conflict, "\(error)")
    case .unfit: RequestRefusal(.invalid, "\(error)")
    case .refused(let why): RequestRefusal(.conflict, "the fleet's database did not take the change: \(why)")
    default: nil
    }
  }

  private func visit(
    _ errand: FleetErrand, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Result<FleetErrand.Visited, RequestRefusal> {
    let gathered: FleetGathering
    switch try gather(for: errand, session, incarnation) {
    case .success(let found): gathered = found
    case .failure(let refusal): return .failure(refusal)
    }
    let answer = Awaited<Result<FleetErrand.Visited, RequestRefusal>>()
    errand.visit(agent.scheduler, gathered.visitors, gathered.subjects) { answer.set($0) }
    switch answer.wait() {
    case .success(var visited):
      try settle(visited, of: errand, hearing: gathered.heard, session, incarnation)
      for event in visited.events { agent.observe(event) }
      visited.isWhole = visited.changed.count >= gathered.count
      (visited.noted, visited.rest) = (gathered.noted, gathered.rest)
      return .success(visited)
    case .failure(let refusal): return .failure(refusal)
    }
  }

  private func settle(
    _ visited: FleetErrand.Visited, of errand: FleetErrand, hearing heard: [FleetNote], _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) {
    var settled: [SettledRequest] = []
    for request in visited.changed {
      var one = try writer.settlement(request, session)
      (one.hasNewPayload, one.edges) = (true, request.edges)
      settled.append(one)
    }
    var drafts: [FleetDraft] = []
    for added in visited.added {
      var record = added.record
      let key = visited.keys[record.id]
      record.request.idempotencyKey = key?.key
      var draft = FleetDraft(record: record, lane: try writer.numbers.id(of: record.lane, session), fingerprint: key?.fingerprint ?? 0)
      (draft.isDrawn, draft.edges) = (true, added.edges)
      drafts.append(draft)
    }
    var keys = FleetKeyChanges(held: visited.moves.held)
    keys.moved = visited.moves.moved
    guard !settled.isEmpty || !drafts.isEmpty else { return }
    try session.settle(incarnation, settled, adding: drafts, keys: keys, heard: heard, takesKeys: errand.revives)
    try session.notify()
  }
}
