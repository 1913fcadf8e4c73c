import HostThreads
import TaskModel

/// Launches plugins in sequence on a thread that waits for nobody in between.
///
/// One that outlives its launch budget keeps that thread forever; the others go on on another one.
final class LaunchBatch: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let attempts: [LaunchAttempt]
  private let budget: Duration
  private let monitor = Monitor()
  private var results: [Result<LaunchedPlugin, LaunchFailure>] = []
  /// When the launch that is on began.
  private var begun = SystemClock.now
  /// The thread that serves now; one that was left behind finds another number here.
  private var generation = 0

  init(_ attempts: [LaunchAttempt], budget: Duration) {
    self.attempts = attempts
    self.budget = budget
    results.reserveCapacity(attempts.count)
  }

  /// What became of each attempt, in their order; waits until all are over.
  func outcomes() -> [Result<LaunchedPlugin, LaunchFailure>] {
    monitor.locked {
      while results.count < attempts.count {
        begun = SystemClock.now
        let generation = self.generation
        do {
          try HostThread.start("launch") { [self] in serve(generation) }
        } catch {
          results.append(.failure(LaunchFailure(step: .load, observed: "\(error)")))
          continue
        }
        while results.count < attempts.count, !isOverdue { monitor.wait(until: begun + budget) }
        guard results.count < attempts.count else { break }
        results.append(.failure(attempts[results.count].abandon(budget)))
        self.generation += 1
      }
      return results
    }
  }

  private var isOverdue: Bool { SystemClock.now >= begun + budget }

  private func serve(_ generation: Int) {
    while let attempt = next(generation) {
      let result = attempt.perform()
      monitor.locked {
        guard generation == self.generation else { return }
        results.append(result)
        if results.count == attempts.count { monitor.signal() }
      }
    }
  }

  private func next(_ generation: Int) -> LaunchAttempt? {
    monitor.locked {
      guard generation == self.generation, results.count < attempts.count else { return nil }
      begun = SystemClock.now
      return attempts[results.count]
    }
  }
}
