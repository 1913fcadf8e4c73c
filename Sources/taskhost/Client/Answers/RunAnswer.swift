/// A run as the host tells it.
struct RunAnswer: Decodable, Identifiable {
  let id: String
  let request: String
  let identifier: String
  let attempt: Int64
  /// nil: it is running.
  let outcome: String?
  let startedUnixMs: Int64
  let durationMs: Int64?
  let message: String?
  /// What the handler wrote, where that is JSON.
  let output: Answer?
  let outputBase64: String?
}

/// A page of a listing of runs.
struct RunPage: ListingPage {
  let runs: [RunAnswer]
  let next: String?

  var rows: [RunAnswer] { runs }
}

/// The runs that were told that their budget is spent.
struct ExpiredAnswer: Decodable {
  let runs: [String]
}

/// The last lines of a run's log.
struct LogAnswer: Decodable {
  let lines: [Quoted<LogLineAnswer>]
}

/// A line of a run's log.
struct LogLineAnswer: Decodable, Hashable {
  let timeUnixMs: Int64
  let level: String
  let message: String
  let stream: String?
}
