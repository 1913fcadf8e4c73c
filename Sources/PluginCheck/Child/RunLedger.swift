import HostThreads
import TaskModel

/// Collects the launcher's events for the thread that waits for the runs.
final class RunLedger: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  struct Ended {
    let ending: RunEnding
    let report: RunReport
    /// The time from the run's expiration to its end; nil if it had not expired.
    let windUp: Duration?
  }

  private let monitor = Monitor()
  private let onStuck: @Sendable (_ thread: String, _ stack: String) -> Void
  /// Runs that were started and not yet waited for. Events of other runs are late and ignored.
  private var begun: Set<RunID> = []
  private var expired: [RunID: MonotonicTime] = [:]
  private var ended: [RunID: Ended] = [:]

  /// - Parameter onStuck: Called when a run's grace is over and its handler has not returned.
  init(onStuck: @escaping @Sendable (_ thread: String, _ stack: String) -> Void) { self.onStuck = onStuck }

  func hear(_ event: LauncherEvent) {
    switch event {
    case .ended(let run, let ending, let report):
      monitor.locked {
        let windUp = expired.removeValue(forKey: run).map { SystemClock.now - $0 }
        ended[run] = Ended(ending: ending, report: report, windUp: windUp)
        monitor.broadcast()
      }
    case .expired(let run, _): willExpire(run.run)
    case .stuck(_, let thread, let stack): onStuck(thread, stack)
    case .progress, .work, .log, .output, .misbehaved, .suspended, .resumed, .began, .withdrawn, .shortage, .relieved: break
    }
  }

  /// Waits for the end of a run and forgets it.
  func wait(for run: RunID) -> Ended {
    monitor.locked {
      while true {
        if let end = ended.removeValue(forKey: run) {
          expired[run] = nil
          begun.remove(run)
          return end
        }
        monitor.wait()
      }
    }
  }

  /// Records the time of an expiration. Call it before asking the run to stop: the launcher's event can arrive after the handler reacts.
  func willExpire(_ run: RunID) {
    monitor.locked {
      guard begun.contains(run), ended[run] == nil, expired[run] == nil else { return }
      expired[run] = SystemClock.now
    }
  }

  func willStart(_ runs: [RunID]) { monitor.locked { begun.formUnion(runs) } }

  /// Whether the run has been asked to stop, or has ended.
  func isExpired(_ run: RunID) -> Bool { monitor.locked { expired[run] != nil || ended[run] != nil } }
}
