import TaskModel

/// Ended runs that had expired and may submit until their grace is over: stopped work may finish and submit its next run after its handler
/// has returned.
struct EndedRuns {
  private var ends: [RunID: (request: RequestID, end: MonotonicTime)] = [:]
  /// The maximum number of runs kept.
  private static let limit = 4096

  /// Adds an expired run that has returned; its grace is over at `end`.
  mutating func note(_ run: RunID, of request: RequestID, until end: MonotonicTime, now: MonotonicTime) {
    if !ends.isEmpty { ends = ends.filter { $0.value.end > now } }
    guard ends.count < Self.limit else { return }
    ends[run] = (request, end)
  }

  /// Whether the run is one of these and its grace is not over.
  func contains(_ run: RunID, of request: RequestID, now: MonotonicTime) -> Bool {
    guard let entry = ends[run] else { return false }
    return entry.request == request && now < entry.end
  }
}

extension SchedulerCore {
  /// Notes an expired run that has returned, if it ended in this turn.
  func noteExpired(_ run: RunID) {
    guard let entry = turn.ended.last(where: { $0.run == run }), let grace = handler(ofRunsOf: entry.identifier)?.contract.grace else {
      return
    }
    endedRuns.note(run, of: entry.request, until: turnBegan + grace, now: turnBegan)
  }

  /// Throws `fenced` unless the run may submit and cancel: it must be its request's current run, or have expired and returned with its grace
  /// not over.
  func checkMaySubmit(_ run: RunID, of request: RequestID, _ transaction: any StoreTransaction) throws {
    if endedRuns.contains(run, of: request, now: turnBegan) { return }
    _ = try transaction.requestRunning(as: run, of: request)
  }
}
