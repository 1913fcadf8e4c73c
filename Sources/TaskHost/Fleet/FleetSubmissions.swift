import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// Adds what was submitted here to the fleet's database, on a thread and a connection of its own: a submission does not wait until the host has
/// looked for work, nor does the host look later because of it.
final class FleetSubmissions {
  private let agent: FleetAgent
  private var session: FleetSession?
  /// What the last connection left at the server.
  private var left: Int64?
  private var numbers = FleetLaneNumbers()
  /// Why the last submissions were not added, and how often in a row that was so.
  private var failures: (last: FleetError?, count: Int) = (nil, 0)

  /// Of requests that are due later, the other hosts need not be told: they look by themselves before. Far longer than their pauses, because
  /// clocks differ.
  private static let soon = Duration.seconds(60)

  init(_ agent: FleetAgent) { self.agent = agent }

  /// Adds what comes, until the agent is over and nothing waits any more.
  func serve() {
    while var arrivals = agent.takeArrivals() {
      var added = 0
      var failure: FleetError?
      do throws(FleetError) { try add(&arrivals, connected(), counting: &added) } catch { failure = error }
      agent.note(added: added)
      note(failure, refusing: arrivals)
    }
  }

  /// - Parameter failure: Why some were not added; nil if all were answered.
  private func note(_ failure: FleetError?, refusing arrivals: [FleetAgent.Arrival]) {
    guard let failure else { return failures = (nil, 0) }
    refuse(arrivals, "\(failure)")
    left = session?.left ?? left
    (session, numbers) = (nil, FleetLaneNumbers())
    if agent.trouble == nil, failure.isNews(after: failures.last) {
      agent.log.error("what was submitted for the fleet is refused: \(failure)")
    }
    failures = (failure, failures.count + 1)
    agent.rest(for: agent.place.pause(after: failures.count))
  }

  private func connected() throws(FleetError) -> FleetSession {
    // It may have been unused for hours: nobody should be refused because the server was restarted meanwhile.
    if let session, session.isOpen { return session }
    let new = try agent.place.connect(left: session?.left ?? left)
    (session, left) = (new, nil)
    return new
  }

  private func refuse(_ arrivals: [FleetAgent.Arrival], _ reason: String) {
    for arrival in arrivals {
      let isNamed = arrival.submissions.allSatisfy { $0.record.request.idempotencyKey != nil }
      let hint = isNamed ? "" : "; it may have been stored: an idempotency key makes it safe to submit again"
      arrival.completion(.failure(FleetAgent.away(reason + hint)))
    }
  }

  /// Adds what was submitted, and answers.
  ///
  /// - Parameters:
  ///   - arrivals: Loses what is answered.
  ///   - added: Counts the new requests that are due soon.
  private func add(_ arrivals: inout [FleetAgent.Arrival], _ session: FleetSession, counting added: inout Int) throws(FleetError) {
    added += try addTogether(&arrivals, session)
    while let arrival = arrivals.first {
      do throws(FleetError) { added += try add(arrival, session) } catch {
        // What others have submitted is added all the same.
        switch error {
        case .locked: arrival.completion(.failure(RequestRefusal(.unavailable, "\(error): submit again soon")))
        case .unfit: arrival.completion(.failure(RequestRefusal(.invalid, "\(error)")))
        default: throw error
        }
      }
      arrivals.removeFirst()
    }
  }

  /// Adds those without keys in one transaction, unless there is only one, which costs the database less by itself. If it takes one of them
  /// not, none is added.
  private func addTogether(_ arrivals: inout [FleetAgent.Arrival], _ session: FleetSession) throws(FleetError) -> Int {
    let plain = arrivals.filter { !$0.hasKeys }
    guard plain.count > 1 || (plain.first?.submissions.count ?? 0) > 1 else { return 0 }
    let submissions = plain.count == 1 ? plain[0].submissions : plain.flatMap(\.submissions)
    let ids: [RequestID]
    do throws(FleetError) { ids = try session.enqueue(try drafts(of: submissions, session)) } catch {
      switch error {
      // Each by itself, it shows which of them it is.
      case .locked, .unfit: return 0
      default: throw error
      }
    }
    var rest = ids[...]
    for arrival in plain {
      let own = rest.prefix(arrival.submissions.count)
      rest = rest.dropFirst(arrival.submissions.count)
      arrival.completion(.success(zip(arrival.submissions, own).map { $0.answer($1, .created, isRepeated: false) }))
    }
    arrivals = arrivals.filter(\.hasKeys)
    return Self.countSoon(submissions)
  }

  /// Adds one submission by itself.
  private func add(_ arrival: FleetAgent.Arrival, _ session: FleetSession) throws(FleetError) -> Int {
    // All of it or nothing: where a key may change its holder, the scheduler looks at all of it.
    if arrival.submissions.count > 1, arrival.submissions.contains(where: \.changesHolder) {
      settleConflict(of: arrival)
      return 0
    }
    let done = try session.enqueue(named: try drafts(of: arrival.submissions, session))
    if done.contains(where: { $0.known == .held }), arrival.submissions.contains(where: \.changesHolder) {
      settleConflict(of: arrival)
      return 0
    }
    arrival.completion(Self.answers(to: arrival, done))
    return Self.countSoon(zip(done, arrival.submissions).lazy.filter { $0.0.known == .new }.map(\.1))
  }

  private static func countSoon(_ submissions: some Sequence<FleetSubmission>) -> Int {
    let soon = SystemClock().wallTime.moved(by: soon)
    return submissions.count { $0.record.due < soon }
  }

  /// Lets the scheduler decide what becomes of the holders of a submission's unique keys.
  private func settleConflict(of arrival: FleetAgent.Arrival) {
    agent.add(FleetErrand(submitting: arrival.submissions.map(\.submitted), completion: arrival.completion))
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

  private func drafts(of submissions: [FleetSubmission], _ session: FleetSession) throws(FleetError) -> [FleetDraft] {
    if submissions.count > 1 { try numbers.learn(submissions.lazy.map(\.record.lane), session) }
    var drafts: [FleetDraft] = []
    drafts.reserveCapacity(submissions.count)
    for submission in submissions {
      drafts.append(
        FleetDraft(
          record: submission.record, lane: try numbers.id(of: submission.record.lane, session), fingerprint: submission.fingerprint))
    }
    return drafts
  }
}

extension FleetAgent.Arrival {
  fileprivate var hasKeys: Bool { submissions.contains { $0.record.request.uniqueKey != nil || $0.record.request.idempotencyKey != nil } }
}
