public import TaskModel

/// A run that has begun, as the scheduler remembers it.
public struct LiveRunEntry: Sendable, Hashable {
  /// The run.
  public let run: RunID
  /// Its request.
  public let request: RequestID
  /// The handler's identifier.
  public let identifier: TaskIdentifier
  /// This host, by its name in the fleet that the request is of; nil for a request that is the host's own.
  var host: String?
  /// 1 for a request's first run.
  public let attempt: Int
  /// When it began.
  public internal(set) var started: WallTime
  /// When the request was due.
  let due: WallTime
  /// Whether the request has occurrences to come.
  let isRepeating: Bool
  /// The constraints under which it began.
  let gates: RunConstraints
  /// Whether an operator launched it regardless of constraints, which then do not stop it.
  var isSimulated = false
  /// Its trace; nil for none.
  var trace: RunTrace?
  /// Why a change to its request asked it to stop; nil if none did. It decides the outcome, whatever the handler returns.
  var stopRequested: StopReason?

  /// The run as a record without an end.
  public var record: RunRecord {
    RunRecord(id: run, request: request, identifier: identifier, host: host, attempt: attempt, started: started)
  }
}
