import Synchronization
import TaskModel

/// The last run of each identifier: read from the history once, kept up to date since.
final class LastRuns: Sendable {
  private struct Known {
    var runs: [TaskIdentifier: RunRecord] = [:]
    var isComplete = false
  }

  private let known = Mutex(Known())

  func note(_ run: RunRecord) {
    var run = run
    run.report.output = []
    run.report.log = []
    known.withLock { $0.runs[run.identifier] = run }
  }

  /// All of them; blocks while the history is read the first time.
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
