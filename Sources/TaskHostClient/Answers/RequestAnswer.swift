/// A request as the host reports it.
package struct RequestAnswer: Decodable, Identifiable {
  package let id: String
  package let identifier: String
  package let state: String
  package let attempt: Int64
  package let attemptsSpent: Int64
  package let losses: Int64
  package let tags: [String]
  package let dueUnixMs: Int64?
  package let startedUnixMs: Int64?
  package let endedUnixMs: Int64?
  package let event: String?
  package let watch: String?
  package let repetition: Repetition
  package let lastOutcome: String?
  package let lastMessage: String?
  package let notes: [String]?
  package let paused: Pause?

  /// The state for people: a request that somebody holds back is paused, whatever it would wait for otherwise.
  package var shownState: String { paused == nil || state == "running" ? state : "paused" }

  /// Who holds it back.
  package struct Pause: Decodable {
    package let by: String
    package let why: String?
  }
}

/// How a request, an effective schedule or a task repeats.
package struct Repetition: Inlined {
  package let everyMs: Int64?
  package let cron: String?
  package let timeZone: String?
  package let everyEvent: Bool?

  /// Whether there is any repetition.
  package var repeats: Bool { everyMs != nil || cron != nil || everyEvent != nil }
}

/// The result of a submission.
package struct SubmissionAnswer: Decodable {
  package let id: String
  package let disposition: String
  package let repeated: Bool?
  package let parked: Bool?
  package let notes: [String]
  package let nextStartUnixMs: Int64?
  package let effective: EffectiveAnswer?

  /// The schedule as the host stores it; for an earlier request, as much as the answer contains.
  package var schedule: EffectiveAnswer {
    effective
      ?? EffectiveAnswer(
        nextStartUnixMs: nextStartUnixMs, latestStartUnixMs: nil, deadlineUnixMs: nil,
        repetition: Repetition(everyMs: nil, cron: nil, timeZone: nil, everyEvent: nil))
  }
}

/// A request's schedule as the host stores it.
package struct EffectiveAnswer: Decodable {
  package let nextStartUnixMs: Int64?
  package let latestStartUnixMs: Int64?
  package let deadlineUnixMs: Int64?
  package let repetition: Repetition
}
