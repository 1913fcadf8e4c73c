import Synchronization
import TaskModel

/// Lets one reload take place at a time.
final class ReloadTurn: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Takes the turn; false if another reload is under way.
  func take() -> Bool {
    state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }

  /// Takes the turn after those that asked before.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isMine = state.withLock { state in
        guard state.isTaken else {
          state.isTaken = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isMine { continuation.resume() }
    }
  }

  /// Gives the turn to the next.
  func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
