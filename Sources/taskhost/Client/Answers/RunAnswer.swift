/// A run as the host reports it.
struct RunAnswer: Decodable, Identifiable {
  let id: String
  let request: String
  let identifier: String
  let attempt: Int64
  /// nil while it is running.
  let outcome: String?
  let startedUnixMs: Int64
  let durationMs: Int64?
  let message: String?
  let progress: ProgressAnswer?
  let work: WorkAnswer?
  /// The handler's output if it is JSON.
  let output: Answer?
  let outputBase64: String?
}

struct RunPage: ListingPage {
  let runs: [RunAnswer]
  let next: String?

  var rows: [RunAnswer] { runs }
}

/// The runs that were asked to stop.
struct ExpiredAnswer: Decodable {
  let runs: [String]
}

/// The last lines of a run's log.
struct LogAnswer: Decodable {
  let lines: [Quoted<LogLineAnswer>]
}

struct LogLineAnswer: Decodable, Hashable {
  let timeUnixMs: Int64
  let level: String
  let message: String
  let stream: String?
}
