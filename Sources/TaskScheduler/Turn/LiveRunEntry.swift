public import TaskModel

/// A run that has begun, as the scheduler remembers it.
public struct LiveRunEntry: Sendable, Hashable {
  /// The run.
  public let run: RunID
  /// Its request.
  public let request: RequestID
  /// Whose handler.
  public let identifier: TaskIdentifier
  /// 1 for a request's first run.
  public let attempt: Int
  /// When it began.
  public internal(set) var started: WallTime
  /// Whether the request has occurrences to come.
  let isRepeating: Bool
  /// What had to be so for it to begin.
  let gates: RunConstraints
  /// Whether it was launched past closed gates: what did not hold then does not stop it.
  var isSimulated = false
  /// Why it was asked to stop by a change to its request; that decides its outcome whatever the handler returns.
  var stopRequested: StopReason?

  /// The run as a record that has no end yet.
  public var record: RunRecord { RunRecord(id: run, request: request, identifier: identifier, attempt: attempt, started: started) }
}
