import Synchronization
import TaskModel

/// How long idle threads are kept, for all plugins of a process together. A few are kept for a while, since waking a thread costs a tenth
/// of creating one. Those that a burst leaves beyond these are kept only briefly, since a thousand of them take tens of megabytes.
final class IdleAllowance: Sendable {
  private let count: Int
  private let time: Duration
  private let beyond: Duration
  private let idle = Atomic(0)

  /// - Parameters:
  ///   - count: The number of threads that may be idle for `time`.
  ///   - beyond: How long other threads may be idle.
  init(count: Int = 64, time: Duration = .seconds(10), beyond: Duration = .milliseconds(200)) {
    self.count = count
    self.time = time
    self.beyond = min(beyond, time)
  }

  /// Called when a thread becomes idle. Returns how long it may wait for a run.
  func enter() -> Duration { idle.add(1, ordering: .relaxed).newValue > count ? beyond : time }

  /// Called when an idle thread gets a run or ends.
  func leave() { idle.subtract(1, ordering: .relaxed) }
}
