import Synchronization
import TaskModel

/// How long threads without a run are kept, for the plugins of a process together: a few for a while, since waking one costs a tenth of
/// making one; those that a burst of runs left beyond these for a moment only, since a thousand of them are tens of megabytes.
final class IdleAllowance: Sendable {
  private let count: Int
  private let time: Duration
  private let beyond: Duration
  private let idle = Atomic(0)

  /// - Parameters:
  ///   - count: How many may be idle for `time`.
  ///   - beyond: How long others may be.
  init(count: Int = 64, time: Duration = .seconds(10), beyond: Duration = .milliseconds(200)) {
    self.count = count
    self.time = time
    self.beyond = min(beyond, time)
  }

  /// A thread has no run; how long it may wait for one.
  func enter() -> Duration { idle.add(1, ordering: .relaxed).newValue > count ? beyond : time }

  /// A thread that had none has one, or ends.
  func leave() { idle.subtract(1, ordering: .relaxed) }
}
