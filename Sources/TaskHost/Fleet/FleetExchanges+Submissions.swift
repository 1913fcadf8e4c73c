import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

// What was submitted here for the fleet.

extension FleetExchanges {
  /// Of requests that are due later, the other hosts need not be told: they look by themselves before. Far longer than their pauses, because
  /// clocks differ.
  private static let soon = Duration.seconds(60)

  /// Adds what was submitted, and answers. Returns how many of the new requests are due soon.
  func add(_ arrivals: inout [FleetAgent.Arrival], _ session: FleetSession) throws(FleetError) -> Int {
    guard !arrivals.isEmpty else { return 0 }
    let isNamed = { (arrival: FleetAgent.Arrival) in
      arrival.submissions.contains { $0.record.request.uniqueKey != nil || $0.record.request.idempotencyKey != nil }
    }
    var added = 0
    let soon = SystemClock().wallTime.moved(by: Self.soon)
    let plain = arrivals.filter { !isNamed($0) }
    if !plain.isEmpty {
      let ids = try session.enqueue(try drafts(of: plain.flatMap(\.submissions), session))
      var rest = ids[...]
      for arrival in plain {
        let own = rest.prefix(arrival.submissions.count)
        rest = rest.dropFirst(arrival.submissions.count)
        arrival.completion(.success(zip(arrival.submissions, own).map { $0.answer($1, .created, isRepeated: false) }))
      }
      added += plain.reduce(0) { $0 + $1.submissions.count { $0.record.due < soon } }
    }
    arrivals = arrivals.filter(isNamed)
    while let arrival = arrivals.first {
      let done = try session.enqueue(named: try drafts(of: arrival.submissions, session))
      arrivals.removeFirst()
      added += zip(done, arrival.submissions).count { $0.known == .new && $1.record.due < soon }
      if done.contains(where: { $0.known == .held }), arrival.submissions.contains(where: \.changesHolder) {
        settleConflict(of: arrival)
        continue
      }
      arrival.completion(Self.answers(to: arrival, done))
    }
    return added
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
    var drafts: [FleetDraft] = []
    drafts.reserveCapacity(submissions.count)
    for submission in submissions {
      drafts.append(
        FleetDraft(
          record: submission.record, lane: try laneID(submission.record.lane, session), fingerprint: submission.fingerprint))
    }
    return drafts
  }
}
