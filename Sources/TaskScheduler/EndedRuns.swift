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
