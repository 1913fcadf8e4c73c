import TaskModel

/// The transitions of a request as Markdown, from the function that decides them.
enum TransitionTable {
  private static let outcomes = RunOutcome.allCases.map { RequestEvent.ended($0) }
  static let events: [RequestEvent] =
    [.unblocked, .predecessorFailed, .unreadable, .claimed, .released, .started] + outcomes + [.cancelled, .retried, .discarded, .redriven]

  private static let guards: [RequestGuards] = [true, false].flatMap { attempts in
    [true, false].flatMap { losses in
      [true, false].map { RequestGuards(attemptsLeft: attempts, lossesLeft: losses, repeating: $0) }
    }
  }

  /// What happens, in words. A case that is added does not compile until it has some.
  static func words(_ event: RequestEvent) -> String {
    switch event {
    case .unblocked: "what it waited for has ended"
    case .predecessorFailed: "what had to succeed first has failed"
    case .unreadable: "its payload is damaged"
    case .claimed: "it is handed out ahead of its run's begin"
    case .released: "it is taken back before its run has begun"
    case .started: "its run begins"
    case .ended(let outcome): "its run ends: \(outcome.rawValue)"
    case .cancelled: "it is cancelled, or replaced"
    case .retried: "it is retried by an operator"
    case .discarded: "it is discarded by an operator"
    case .redriven: "what it failed because of is retried"
    }
  }

  private static func words(_ due: RequestTransition.Due) -> String {
    switch due {
    case .unchanged: "as it was"
    case .now: "at once"
    case .afterBackoff: "after its backoff"
    case .afterSnooze: "after its snooze"
    case .nextOccurrence: "at its next occurrence"
    }
  }

  private static func words(_ attempts: RequestTransition.Count) -> String {
    switch attempts {
    case .keep: "as they were"
    case .add: "one more"
    case .reset: "none"
    }
  }

  /// The document.
  static var markdown: String {
    var lines = [
      "# The states of a request", "",
      "Printed by a test from `RequestState.transition(on:guards:)` in `Sources/TaskModel/Requests/RequestState.swift`,",
      "the one place where a state changes. `make states` regenerates it.", "",
      "Ended for good: \(RequestState.allCases.filter(\.isFinal).map { "`\($0.rawValue)`" }.joined(separator: ", ")). `claimed` is shown and counted as `pending`.",
      "", "| from | when | if | to | due | attempts spent |", "| --- | --- | --- | --- | --- | --- |",
    ]
    for state in RequestState.allCases { for event in events { lines += rows(state, event) } }
    lines += ["", "Every other pair of state and event is an error that names both:", "", "| state | cannot be |", "| --- | --- |"]
    for state in RequestState.allCases {
      let illegal = events.filter { event in !guards.contains { (try? state.transition(on: event, guards: $0)) != nil } }
      lines.append("| `\(state.rawValue)` | \(illegal.map(short).joined(separator: ", ")) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func short(_ event: RequestEvent) -> String {
    if case .ended(let outcome) = event { "ended (\(outcome.rawValue))" } else { "\(event)" }
  }

  /// A row for each place the pair leads to.
  private static func rows(_ state: RequestState, _ event: RequestEvent) -> [String] {
    var leads: [(to: RequestTransition, guards: [RequestGuards])] = []
    for guards in guards {
      guard let transition = try? state.transition(on: event, guards: guards) else { continue }
      if let known = leads.firstIndex(where: { $0.to == transition }) {
        leads[known].guards.append(guards)
      } else {
        leads.append((transition, [guards]))
      }
    }
    return leads.map { lead in
      let due = lead.to.state == .pending ? words(lead.to.due) : ""
      let loss = lead.to.losses == .add ? "; one more loss in a row" : ""
      return
        "| `\(state.rawValue)` | \(words(event)) | \(condition(lead.guards)) | `\(lead.to.state.rawValue)` | \(due) | \(words(lead.to.attempts))\(loss) |"
    }
  }

  /// What the guards of a row have in common.
  private static func condition(_ rows: [RequestGuards]) -> String {
    func common(_ value: KeyPath<RequestGuards, Bool>, _ yes: String, _ no: String) -> String? {
      let values = Set(rows.map { $0[keyPath: value] })
      guard values.count == 1, let only = values.first else { return nil }
      return only ? yes : no
    }
    return [
      common(\.attemptsLeft, "attempts are left", "no attempt is left"), common(\.lossesLeft, "losses are left", "no loss is left"),
      common(\.repeating, "it repeats", "it does not repeat"),
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
