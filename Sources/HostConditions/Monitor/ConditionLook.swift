import HostThreads
import TaskModel

/// A caller that waits for a look at every condition.
final class ConditionLook: Sendable {
  private let monitor = Monitor()
  private let answer = Guarded<ConditionReport?>(nil)

  /// Answers it.
  func answer(_ report: ConditionReport) {
    monitor.locked { answer.withLock { $0 = report } }
    monitor.broadcast()
  }

  /// The answer; nil if none came by `deadline` of the system's clock.
  func wait(until deadline: MonotonicTime) -> ConditionReport? {
    monitor.locked {
      while true {
        if let report = answer.withLock({ $0 }) { return report }
        guard monitor.wait(until: deadline) else { return answer.withLock { $0 } }
      }
    }
  }
}
