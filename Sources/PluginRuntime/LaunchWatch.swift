import HostThreads
import TaskModel

/// Decides whether a launch ended before its budget was over. Both threads get the same answer.
final class LaunchWatch: Sendable {
  private enum State { case running, ended, late }

  private let state = Guarded(State.running)

  /// Called when the launch has ended. Returns false if its time was already over.
  func end() -> Bool {
    state.withLock { state in
      guard state == .running else { return false }
      state = .ended
      self.state.broadcast()
      return true
    }
  }

  /// Waits for the end of the launch. Returns false if its time is over.
  func ends(by deadline: MonotonicTime) -> Bool {
    state.wait { (state) -> Guarded<State>.Look<Bool> in
      if state == .running, SystemClock.now < deadline { return .again(by: deadline) }
      if state == .running { state = .late }
      return .done(state == .ended)
    }
  }
}
