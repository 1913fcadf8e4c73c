import Synchronization
import TaskModel

/// Counts the runs that have ended since the host's start.
final class EndedRunCounts: Sendable {
  private struct Counted {
    var tasks: [TaskIdentifier: TaskMetrics] = [:]
    var lateness = DurationHistogram()
  }

  private let counted = Mutex(Counted())

  func note(_ run: RunRecord) {
    counted.withLock { counted in
      counted.tasks[run.identifier, default: TaskMetrics()].add(run)
      if let began = run.report.began, let due = run.report.due { counted.lateness.add(began - due) }
    }
  }

  /// The runs of each identifier, and how late all began.
  var current: (tasks: [TaskIdentifier: TaskMetrics], lateness: DurationHistogram) {
    counted.withLock { ($0.tasks, $0.lateness) }
  }
}
