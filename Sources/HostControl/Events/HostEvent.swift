public import TaskModel

/// Something that happened in the host.
public enum HostEvent: Sendable, Hashable {
  /// A request is now as given (without payload): submitted, started, due again, ended.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
  /// A run reported progress.
  case progress(RunID, RequestID, RunProgress)
  /// A run wrote a line.
  case log(RunID, RequestID, LogLine)

  /// The request it is about.
  var request: RequestID {
    switch self {
    case .request(let record): record.id
    case .run(let record): record.request
    case .progress(_, let request, _), .log(_, let request, _): request
    }
  }
}
