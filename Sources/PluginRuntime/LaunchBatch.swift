import HostThreads
import TaskModel

/// Launches plugins in sequence on one thread, without waiting between them.
///
/// A plugin that exceeds its launch budget keeps that thread forever; the others continue on a new one.
final class LaunchBatch: Sendable {
  private struct State {
    var results: [Result<LaunchedPlugin, LaunchFailure>] = []
    /// The beginning of the current launch.
    var begun = SystemClock.now
    /// The number of the current thread; an abandoned thread finds another number here.
    var generation = 0
  }

  private let attempts: [LaunchAttempt]
  private let budget: Duration
  private let state = Guarded(State())

  init(_ attempts: [LaunchAttempt], budget: Duration) {
    self.attempts = attempts
    self.budget = budget
  }

  /// The outcomes in the order of the attempts. Waits until all are over.
  func outcomes() -> [Result<LaunchedPlugin, LaunchFailure>] {
    while let generation = beginThread() {
      do {
        try HostThread.start("launch") { [self] in serve(generation) }
        awaitThread()
      } catch {
        state.withLock { $0.results.append(.failure(LaunchFailure(step: .load, observed: "\(error)"))) }
      }
    }
    return state.withLock { $0.results }
  }

  /// The number of the next thread; nil if all launches are over.
  private func beginThread() -> Int? {
    state.withLock { state in
      state.begun = SystemClock.now
      return state.results.count < attempts.count ? state.generation : nil
    }
  }

  /// Waits until all launches are over, or one has exceeded its budget and is abandoned with its thread.
  private func awaitThread() {
    state.wait { (state) -> Guarded<State>.Look<Void> in
      if state.results.count == attempts.count { return .done(()) }
      guard SystemClock.now >= state.begun + budget else { return .again(by: state.begun + budget) }
      state.results.append(.failure(attempts[state.results.count].abandon(budget)))
      state.generation += 1
      return .done(())
    }
  }

  private func serve(_ generation: Int) {
    while let attempt = next(generation) {
      let result = attempt.perform()
      state.withLock { state in
        guard generation == state.generation else { return }
        state.results.append(result)
        if state.results.count == attempts.count { self.state.signal() }
      }
    }
  }

  private func next(_ generation: Int) -> LaunchAttempt? {
    state.withLock { state in
      guard generation == state.generation, state.results.count < attempts.count else { return nil }
      state.begun = SystemClock.now
      return attempts[state.results.count]
    }
  }
}
