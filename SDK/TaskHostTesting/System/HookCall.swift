import Synchronization

/// A call on another thread that a test waits for, for so long in real time.
final class HookCall: Sendable {
  private struct State {
    var isFinished = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// The call has returned. Any thread.
  func finish() { end { $0.isFinished = true } }

  /// Whether it returned in time. Called once.
  func finished(within limit: Duration) async -> Bool {
    let watchdog = Task {
      try await Task.sleep(for: limit)
      end { _ in }
    }
    defer { watchdog.cancel() }
    await withCheckedContinuation { continuation in
      let isFinished = state.withLock { state in
        if !state.isFinished { state.waiting = continuation }
        return state.isFinished
      }
      if isFinished { continuation.resume() }
    }
    return state.withLock(\.isFinished)
  }

  private func end(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }
}
