import TaskModel

/// Expired runs that have ended and may submit until their grace is over: stopped work may finish, and submit its next run, after its
/// handler has returned.
struct EndedRuns {
  private var ends: [RunID: (request: RequestID, end: MonotonicTime)] = [:]
  /// The maximum number that is kept.
  private static let limit = 4096

  /// An expired run has returned; its grace is over at `end`.
  mutating func note(_ run: RunID, of request: RequestID, until end: MonotonicTime, now: MonotonicTime) {
    if !ends.isEmpty { ends = ends.filter { $0.value.end > now } }
    guard ends.count < Self.limit else { return }
    ends[run] = (request, end)
  }

  /// Whether the run is one of them and its grace continues.
  func contains(_ run: RunID, of request: RequestID, now: MonotonicTime) -> Bool {
    guard let entry = ends[run] else { return false }
    return entry.request == request && now < entry.end
  }
}

extension SchedulerCore {
  /// An expired run has returned, if it ended in this turn.
  func noteExpired(_ run: RunID) {
    guard let entry = turn.ended.last(where: { $0.run == run }), let grace = handlers[entry.identifier]?.contract.grace else { return }
    endedRuns.note(run, of: entry.request, until: turnBegan + grace, now: turnBegan)
  }

  /// Throws `fenced` unless the run may submit and cancel: it is its request's present run, or it expired, has returned, and its grace
  /// continues.
  func checkMaySubmit(_ run: RunID, of request: RequestID, _ transaction: any StoreTransaction) throws {
    if endedRuns.contains(run, of: request, now: turnBegan) { return }
    _ = try transaction.requestRunning(as: run, of: request)
  }
}
