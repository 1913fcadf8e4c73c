/// Something that happened in the host. The scheduler tells of requests and runs once that is durable.
public enum HostEvent: Sendable, Hashable {
  /// A request is now as given (without payload): submitted, started, due again, ended.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
  /// A run reported progress.
  case progress(RunReference, RunProgress)
  /// A run wrote a line.
  case log(RunReference, LogLine)

  /// The request it is about.
  public var request: RequestID {
    switch self {
    case .request(let record): record.id
    case .run(let record): record.request
    case .progress(let run, _), .log(let run, _): run.request
    }
  }
}
