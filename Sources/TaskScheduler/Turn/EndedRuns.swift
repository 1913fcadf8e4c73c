import TaskModel

/// Runs that expired and have ended, whose submissions are taken until their grace is over: work that was stopped may come to its end, and
/// ask for its next run, after its handler has returned.
struct EndedRuns {
  private var ends: [RunID: (request: RequestID, end: MonotonicTime)] = [:]
  /// More are not kept.
  private static let limit = 4096

  /// A run that had expired has returned; its grace is over at `end`.
  mutating func note(_ run: RunID, of request: RequestID, until end: MonotonicTime, now: MonotonicTime) {
    if !ends.isEmpty { ends = ends.filter { $0.value.end > now } }
    guard ends.count < Self.limit else { return }
    ends[run] = (request, end)
  }

  /// Whether it is one of them still.
  func contains(_ run: RunID, of request: RequestID, now: MonotonicTime) -> Bool {
    guard let entry = ends[run] else { return false }
    return entry.request == request && now < entry.end
  }
}

extension SchedulerCore {
  /// A run that had expired has returned, if it has ended in this turn.
  func noteExpired(_ run: RunID) {
    guard let entry = turn.ended.last(where: { $0.run == run }), let grace = handlers[entry.identifier]?.contract.grace else { return }
    endedRuns.note(run, of: entry.request, until: turnBegan + grace, now: turnBegan)
  }

  /// Throws `fenced` unless the run may submit and cancel: it is its request's present one, or it expired, has returned, and its grace is
  /// not over.
  func checkMaySubmit(_ run: RunID, of request: RequestID, _ transaction: any StoreTransaction) throws {
    if endedRuns.contains(run, of: request, now: turnBegan) { return }
    _ = try transaction.requestRunning(as: run, of: request)
  }
}
