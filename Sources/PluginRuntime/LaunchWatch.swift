import HostThreads
import TaskModel

/// Tells whether a launch ended before its budget was over: one of the two comes first, for both threads.
final class LaunchWatch: @unchecked Sendable {  // reason: `state` is touched with `monitor` held
  private enum State { case running, ended, late }

  private let monitor = Monitor()
  private var state = State.running

  /// The launch has ended; false: its time was over before.
  func end() -> Bool {
    monitor.locked {
      guard state == .running else { return false }
      state = .ended
      monitor.broadcast()
      return true
    }
  }

  /// Waits for the end of the launch; false: its time is over.
  func ends(by deadline: MonotonicTime) -> Bool {
    monitor.locked {
      while state == .running, SystemClock.now < deadline { monitor.wait(until: deadline) }
      if state == .running { state = .late }
      return state == .ended
    }
  }
}
