import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

/// Writes to the fleet's database: adds what was submitted here, and answers; says what is to be recorded of what has ended.
struct FleetWriter {
  let agent: FleetAgent
  var numbers = FleetLaneNumbers()
  private var lockedKeys = FleetLockedKeys()

  /// Of requests that are due later, the other hosts need not be told: they look by themselves before. Far longer than their pauses, because
  /// what a host knows of the fleet's clock may be old.
  private static let soon = Duration.seconds(60)

  init(_ agent: FleetAgent) { self.agent = agent }

  /// Says that nothing of these was added, as far as is known.
  func refuse(_ arrivals: [FleetAgent.Arrival], _ failure: FleetError) {
    for arrival in arrivals {
      let isNamed = arrival.submissions.allSatisfy { $0.record.request.idempotencyKey != nil }
      let hint = isNamed ? "" : "; it may have been stored: an idempotency key makes it safe to submit again"
      arrival.completion(.failure(FleetAgent.away("\(failure)" + hint)))
    }
  }

  /// Refuses what would be too many. To be called once for all that arrives.
  func refuseExcess(_ arrivals: inout [FleetAgent.Arrival], _ session: FleetSession) throws(FleetError) {
    // Nobody is answered before all is known: the next question may fail.
    let refusals = try arrivals.map { (arrival) throws(FleetError) in
      let requests = arrival.submitted
      let identifiers = requests.indices.lazy.map { requests[$0].identifier }
      return try agent.bound.add(identifiers, hasKeys: arrival.hasKeys, by: arrival.plugin, session) { requests }
    }
    guard refusals.contains(where: { $0 != nil }) else { return }
    for (arrival, refusal) in zip(arrivals, refusals) { if let refusal { arrival.completion(.failure(refusal)) } }
    arrivals = zip(arrivals, refusals).filter { $1 == nil }.map(\.0)
  }

  /// Adds what was submitted, and answers.
  ///
  /// - Parameters:
  ///   - arrivals: Loses what is answered.
  ///   - added: Counts the new requests that are due soon.
  ///   - tells: Whether the hosts are told of each that is added by itself.
  mutating func add(
    _ arrivals: inout [FleetAgent.Arrival], _ session: FleetSession, counting added: inout Int, tells: Bool = false
  ) throws(FleetError) {
    while let count = try addTogether(&arrivals, session) { added += count }
    while let arrival = arrivals.first {
      do throws(FleetError) {
        guard !lockedKeys.contain(arrival.submissions, numbers) else { throw .locked }
        added += try add(arrival, session, tells: tells)
      } catch {
        // What others have submitted is added all the same.
        switch error {
        case .locked:
          noteLocked(arrival.submissions)
          arrival.completion(.failure(RequestRefusal(.unavailable, "\(error): submit again soon")))
        case .unfit: arrival.completion(.failure(RequestRefusal(.invalid, "\(error)")))
        default: throw error
        }
      }
      arrivals.removeFirst()
    }
  }

  /// These have waited for another transaction in vain.
  mutating func noteLocked(_ submissions: [FleetSubmission]) {
    if !lockedKeys.contain(submissions, numbers) { lockedKeys.note(submissions, numbers) }
  }

  /// The request that these are, if the host might begin it at once: it can be added with the host's claims, in one transaction. Nil if
  /// there are others, or it has a key or is due later.
  func single(of arrivals: [FleetAgent.Arrival]) -> FleetSubmission? {
    guard arrivals.count == 1, let arrival = arrivals.first, !arrival.hasKeys, arrival.submissions.count == 1 else { return nil }
    return countSoon(arrival.submissions.map(\.record.due)) == 1 ? arrival.submissions.first : nil
  }

  /// Answers what was added so.
  func answer(_ arrivals: inout [FleetAgent.Arrival], _ added: NamedSubmission) {
    for arrival in arrivals { arrival.completion(Self.answers(to: arrival, [added])) }
    arrivals = []
  }

  /// Adds those without keys in one transaction, as many as it may have, unless there is only one, which costs the database less by itself. If
  /// it takes one of them not, none is added.
  ///
  /// - Returns: How many requests are due soon; nil if nothing was added.
  private mutating func addTogether(_ arrivals: inout [FleetAgent.Arrival], _ session: FleetSession) throws(FleetError) -> Int? {
    let places = arrivals.indices.filter { !arrivals[$0].hasKeys && !lockedKeys.contain(arrivals[$0].submissions, numbers) }
    let plain = places.prefix(FleetAgent.countTogether(places.count) { arrivals[places[$0]].bytes }).map { arrivals[$0] }
    guard plain.count > 1 || (plain.first?.submissions.count ?? 0) > 1 else { return nil }
    let submissions = plain.count == 1 ? plain[0].submissions : plain.flatMap(\.submissions)
    let ids: [RequestID]
    do throws(FleetError) {
      let lanes = try numbers.ids(of: submissions.indices.lazy.map { submissions[$0].record.lane }, session)
      ids = try session.enqueue(submissions.count) {
        submissions[$0].record.request.payload.count
      } _: {
        FleetDraft(record: submissions[$0].record, lane: lanes[$0])
      }
    } catch {
      switch error {
      // Each by itself, it shows which of them it is.
      case .locked, .unfit: return nil
      default: throw error
      }
    }
    var rest = ids[...]
    for arrival in plain {
      let submissions = arrival.submissions
      let own = rest.prefix(submissions.count)
      rest = rest.dropFirst(submissions.count)
      arrival.completion(.success(zip(submissions.indices, own).map { submissions[$0].answer($1, .created, isRepeated: false) }))
    }
    let added = Set(places.prefix(plain.count))
    arrivals = arrivals.indices.lazy.filter { !added.contains($0) }.map { arrivals[$0] }
    return countSoon(submissions.indices.lazy.map { submissions[$0].record.due })
  }

  /// Adds one submission by itself.
  private mutating func add(_ arrival: FleetAgent.Arrival, _ session: FleetSession, tells: Bool) throws(FleetError) -> Int {
    // All of it or nothing: where a key may change its holder, the scheduler looks at all of it.
    if arrival.submissions.count > 1, arrival.submissions.contains(where: \.changesHolder) {
      settleConflict(of: arrival)
      return 0
    }
    let lanes = try numbers.ids(of: arrival.submissions.lazy.map { $0.record.lane }, session)
    let drafts = zip(arrival.submissions, lanes).map { FleetDraft(record: $0.record, lane: $1, fingerprint: $0.fingerprint) }
    let done: [NamedSubmission]
    do throws(FleetError) { done = try session.enqueue(named: drafts, tells: tells) } catch {
      guard error == .changed else { throw error }
      // The scheduler says which of them it is.
      settleConflict(of: arrival)
      return 0
    }
    if done.contains(where: { $0.known == .held }), arrival.submissions.contains(where: \.changesHolder) {
      settleConflict(of: arrival)
      return 0
    }
    arrival.completion(Self.answers(to: arrival, done))
    return countSoon(zip(done, arrival.submissions).lazy.filter { $0.0.known == .new }.map(\.1.record.due))
  }

  private func countSoon(_ dues: some Sequence<WallTime>) -> Int {
    let soon = (agent.lease.clock.now ?? SystemClock().wallTime).moved(by: Self.soon)
    return dues.count { $0 < soon }
  }

  /// Lets the scheduler decide what becomes of the holders of a submission's unique keys.
  private func settleConflict(of arrival: FleetAgent.Arrival) {
    var errand = FleetErrand(submitting: arrival.submitted, completion: arrival.completion)
    errand.isCounted = true
    agent.add(errand)
  }

  private static func answers(to arrival: FleetAgent.Arrival, _ done: [NamedSubmission]) -> Result<[Submission], RequestRefusal> {
    var answers: [Submission] = []
    for (submission, named) in zip(arrival.submissions, done) {
      switch named.known {
      case .new: answers.append(submission.answer(named.id, .created, isRepeated: false))
      case .held: answers.append(submission.answer(named.id, .kept, isRepeated: false))
      case .repeated: answers.append(submission.answer(named.id, .created, isRepeated: true))
      case .different:
        return .failure(
          RequestField.idempotencyKey.refusal(
            "the idempotency key was used for another submission, which became \(named.id): use a new key", code: .conflict))
      }
    }
    return .success(answers)
  }
}
