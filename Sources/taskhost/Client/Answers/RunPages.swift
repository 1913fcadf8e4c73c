import TaskHostClient

/// A page of runs.
struct RunPage: ListingPage {
  let runs: [RunAnswer]
  let next: String?
  let incomplete: String?

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
