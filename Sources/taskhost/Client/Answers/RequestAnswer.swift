/// A request as the host reports it.
struct RequestAnswer: Decodable, Identifiable {
  let id: String
  let identifier: String
  let state: String
  let attempt: Int64
  let attemptsSpent: Int64
  let losses: Int64
  let tags: [String]
  let dueUnixMs: Int64?
  let startedUnixMs: Int64?
  let endedUnixMs: Int64?
  let event: String?
  let watch: String?
  let repetition: Repetition
  let lastOutcome: String?
  let lastMessage: String?
  let notes: [String]?
  let paused: Pause?

  /// The state for people: a request that somebody holds back is paused, whatever it would wait for otherwise.
  var shownState: String { paused == nil || state == "running" ? state : "paused" }

  /// Who holds it back.
  struct Pause: Decodable {
    let by: String
    let why: String?
  }
}

/// How a request, an effective schedule or a task repeats.
struct Repetition: Inlined {
  let everyMs: Int64?
  let cron: String?
  let timeZone: String?
  let everyEvent: Bool?

  /// Whether there is any repetition.
  var repeats: Bool { everyMs != nil || cron != nil || everyEvent != nil }
}

struct RequestPage: ListingPage {
  let requests: [RequestAnswer]
  let next: String?

  var rows: [RequestAnswer] { requests }
}

/// All requests that matched were cancelled.
struct CancelledAnswer: Decodable {
  let cancelled: Int64
}

/// A page of failed requests that are pending again.
struct RetriedAnswer: PagedAnswer {
  struct Refusal: Decodable {
    let id: String
    let message: String
  }

  let retried: [String]
  let refused: [Refusal]
  let next: String?
}

/// A part of the requests that a bulk action is for.
struct BulkAnswer: PagedAnswer {
  /// Why requests stay as they are, and how many.
  struct Reason: Decodable {
    let reason: String
    let count: Int64
  }

  let matched: Int64
  let changes: Int64
  let reasons: [Reason]
  let done: [String]
  let refused: [RetriedAnswer.Refusal]
  let next: String?
}

/// A page of failed requests that were discarded.
struct DiscardedAnswer: PagedAnswer {
  let discarded: [String]
  let next: String?
}

/// The result of a submission.
struct SubmissionAnswer: Decodable {
  let id: String
  let disposition: String
  let repeated: Bool?
  let notes: [String]
  let nextStartUnixMs: Int64?
  let effective: EffectiveSchedule?

  /// The schedule as the host stores it; for an earlier request, as much as the answer contains.
  var schedule: EffectiveSchedule {
    effective
      ?? EffectiveSchedule(
        nextStartUnixMs: nextStartUnixMs, latestStartUnixMs: nil, deadlineUnixMs: nil,
        repetition: Repetition(everyMs: nil, cron: nil, timeZone: nil, everyEvent: nil))
  }
}

/// A request's schedule as the host stores it.
struct EffectiveSchedule: Decodable {
  let nextStartUnixMs: Int64?
  let latestStartUnixMs: Int64?
  let deadlineUnixMs: Int64?
  let repetition: Repetition
}
