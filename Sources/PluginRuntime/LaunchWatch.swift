import HostThreads
import TaskModel

/// Decides whether a launch ended before its budget was over. Both threads get the same answer.
final class LaunchWatch: @unchecked Sendable {  // reason: `state` is touched with `monitor` held
  private enum State { case running, ended, late }

  private let monitor = Monitor()
  private var state = State.running

  /// Called when the launch has ended. Returns false if its time was already over.
  func end() -> Bool {
    monitor.locked {
      guard state == .running else { return false }
      state = .ended
      monitor.broadcast()
      return true
    }
  }

  /// Waits for the end of the launch. Returns false if its time is over.
  func ends(by deadline: MonotonicTime) -> Bool {
    monitor.locked {
      while state == .running, SystemClock.now < deadline { monitor.wait(until: deadline) }
      if state == .running { state = .late }
      return state == .ended
    }
  }
}
