/// Something that happened in the host. The scheduler reports a request or run once its change is durable.
public enum HostEvent: Sendable, Hashable {
  /// A request was submitted, started, became due again or ended. The record shows its new state, without payload.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
  /// A run reported progress.
  case progress(RunReference, RunProgress)
  /// The sums of what a run has done changed. Reported a few times a second at most; the last ones come with the run's end.
  case work(RunReference, RunWork)
  /// A run wrote a log line.
  case log(RunReference, LogLine)
  /// An execution assertion was taken or has ended: its state says which.
  case assertion(Assertion)

  /// The request that the event concerns; nil if it concerns none.
  public var request: RequestID? {
    switch self {
    case .request(let record): record.id
    case .run(let record): record.request
    case .progress(let run, _), .work(let run, _), .log(let run, _): run.request
    case .assertion: nil
    }
  }

  /// The identifier that the event concerns; nil if it concerns none.
  public var identifier: TaskIdentifier? {
    switch self {
    case .request(let record): record.request.identifier
    case .run(let record): record.identifier
    case .progress(let run, _), .work(let run, _), .log(let run, _): run.identifier
    case .assertion(let assertion): assertion.request.run?.identifier
    }
  }
}
