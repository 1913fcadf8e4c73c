/// A request as the host tells it.
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
}

/// How a request, an effective schedule or a task comes again.
struct Repetition: Inlined {
  let everyMs: Int64?
  let cron: String?
  let timeZone: String?
  let everyEvent: Bool?

  /// Whether it does.
  var repeats: Bool { everyMs != nil || cron != nil || everyEvent != nil }
}

/// A page of a listing of requests.
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

/// A page of failed requests that nobody will retry.
struct DiscardedAnswer: PagedAnswer {
  let discarded: [String]
  let next: String?
}
