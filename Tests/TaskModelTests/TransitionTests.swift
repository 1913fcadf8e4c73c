import Testing

@testable import TaskModel

@Suite("Transitions of a request") struct TransitionTests {
  /// One line of the table: from, event, which guards it is for, where it leads.
  private struct Line: Sendable {
    let from: RequestState
    let event: RequestEvent
    let applies: @Sendable (RequestGuards) -> Bool
    let leads: RequestTransition

    init(
      _ from: RequestState, _ event: RequestEvent, when applies: @escaping @Sendable (RequestGuards) -> Bool = { _ in true },
      _ leads: RequestTransition
    ) {
      self.from = from
      self.event = event
      self.applies = applies
      self.leads = leads
    }
  }

  @Sendable private static func once(_ guards: RequestGuards) -> Bool { !guards.repeating }
  @Sendable private static func repeating(_ guards: RequestGuards) -> Bool { guards.repeating }
  private static let nextOccurrence = RequestTransition(state: .pending, due: .nextOccurrence, attempts: .reset, losses: .reset)

  /// "How a run ends, and what its request does then", with everything else that may happen to a request.
  private static let table: [Line] = plain + spending

  private static let plain: [Line] = [
    Line(.blocked, .unblocked, RequestTransition(state: .pending)),
    Line(.blocked, .predecessorFailed, RequestTransition(state: .failed)),
    Line(.pending, .unreadable, RequestTransition(state: .failed)),
    Line(.blocked, .cancelled, RequestTransition(state: .cancelled)),
    Line(.pending, .claimed, RequestTransition(state: .claimed)),
    Line(.pending, .started, RequestTransition(state: .running)),
    Line(.pending, .cancelled, RequestTransition(state: .cancelled)),
    Line(.claimed, .released, RequestTransition(state: .pending)),
    Line(.claimed, .started, RequestTransition(state: .running)),
    Line(.running, .released, RequestTransition(state: .pending)),
    Line(.failed, .retried, RequestTransition(state: .pending, due: .now, attempts: .reset, losses: .reset)),
    Line(.failed, .discarded, RequestTransition(state: .cancelled)),
    Line(.failed, .redriven, RequestTransition(state: .blocked, attempts: .reset, losses: .reset)),

    Line(.running, .ended(.succeeded), when: once, RequestTransition(state: .succeeded, attempts: .reset, losses: .reset)),
    Line(.running, .ended(.succeeded), when: repeating, nextOccurrence),
    Line(.running, .ended(.noop), when: once, RequestTransition(state: .succeeded, attempts: .reset, losses: .reset)),
    Line(.running, .ended(.noop), when: repeating, nextOccurrence),
    Line(.running, .ended(.failed), when: once, RequestTransition(state: .failed, losses: .reset)),
    Line(.running, .ended(.failed), when: repeating, nextOccurrence),
    Line(.running, .ended(.snoozed), RequestTransition(state: .pending, due: .afterSnooze, losses: .reset)),
    Line(.running, .ended(.stopped), RequestTransition(state: .pending, due: .now, losses: .reset)),
    Line(.running, .ended(.cancelled), RequestTransition(state: .cancelled, losses: .reset)),
    Line(.running, .ended(.lost), when: { $0.lossesLeft }, RequestTransition(state: .pending, due: .now, losses: .add)),
    Line(.running, .ended(.lost), when: { !$0.lossesLeft && !$0.repeating }, RequestTransition(state: .failed, losses: .reset)),
    Line(.running, .ended(.lost), when: { !$0.lossesLeft && $0.repeating }, nextOccurrence),
  ]

  private static let spending: [Line] = [RunOutcome.retried, .expired, .crashed].flatMap { (outcome: RunOutcome) -> [Line] in
    [
      Line(
        .running, .ended(outcome), when: { $0.attemptsLeft },
        RequestTransition(state: .pending, due: .afterBackoff, attempts: .add, losses: .reset)),
      Line(
        .running, .ended(outcome), when: { !$0.attemptsLeft && !$0.repeating },
        RequestTransition(state: .failed, attempts: .add, losses: .reset)),
      Line(.running, .ended(outcome), when: { !$0.attemptsLeft && $0.repeating }, nextOccurrence),
    ]
  }

  private static let outcomes: [RequestEvent] = RunOutcome.allCases.map { .ended($0) }
  private static let events: [RequestEvent] =
    [.unblocked, .predecessorFailed, .unreadable, .claimed, .released, .started, .cancelled, .retried, .discarded, .redriven]
    + outcomes

  private static let guards = [true, false].flatMap { attempts in
    [true, false].flatMap { losses in
      [true, false].map { RequestGuards(attemptsLeft: attempts, lossesLeft: losses, repeating: $0) }
    }
  }

  @Test("every pair of state and event leads where the table says, under all guards; every other pair is an error naming both")
  func allPairs() {
    var legal = 0
    for state in RequestState.allCases {
      for event in Self.events {
        for guards in Self.guards {
          let lines = Self.table.filter { $0.from == state && $0.event == event && $0.applies(guards) }
          #expect(lines.count <= 1, "\(state) \(event) \(guards)")
          if let line = lines.first {
            legal += 1
            #expect((try? state.transition(on: event, guards: guards)) == line.leads, "\(state) \(event) \(guards)")
          } else {
            #expect(throws: IllegalTransition(state: state, event: event), "\(state) \(event) \(guards)") {
              try state.transition(on: event, guards: guards)
            }
          }
        }
      }
    }
    // 22 pairs, 8 guards each: no line of the table is left unused.
    #expect(legal == 23 * 8)
  }

  @Test("an illegal transition says which state met which event")
  func sentence() {
    #expect("\(IllegalTransition(state: .succeeded, event: .started))" == "a request that is succeeded cannot be started")
  }

  @Test("the final states are those that no run leaves")
  func finality() {
    #expect(RequestState.allCases.filter(\.isFinal) == [.succeeded, .failed, .cancelled])
  }
}
