import Synchronization
import TaskModel

/// The last run of each identifier, read from the history once and then kept up to date.
final class LastRuns: Sendable {
  private struct Known {
    var runs: [TaskIdentifier: RunRecord] = [:]
    var isComplete = false
  }

  private let known = Mutex(Known())

  func note(_ run: RunRecord) {
    known.withLock { $0.runs[run.identifier] = run.listed }
  }

  /// Blocks while it reads the history for the first time.
  func current(_ store: any RequestStore) throws(StoreError) -> [TaskIdentifier: RunRecord] {
    if let runs = known.withLock({ $0.isComplete ? $0.runs : nil }) { return runs }
    let history = try store.lastRuns()
    return known.withLock { known in
      known.runs.merge(history) { mine, theirs in mine.id > theirs.id ? mine : theirs }
      known.isComplete = true
      return known.runs
    }
  }
}
