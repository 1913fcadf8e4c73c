import HostThreads

/// Jobs that several threads take in order, and their results.
final class JobBoard<Outcome: Sendable>: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private let count: Int
  private var next = 0
  private var outcomes: [Int: Outcome] = [:]

  /// - Parameter count: How many jobs there are.
  init(count: Int) { self.count = count }

  /// The number of the next job; nil if none is left.
  func take() -> Int? {
    monitor.locked {
      guard next < count else { return nil }
      defer { next += 1 }
      return next
    }
  }

  /// The job is done.
  func put(_ number: Int, _ outcome: Outcome) {
    monitor.locked {
      outcomes[number] = outcome
      monitor.broadcast()
    }
  }

  /// Waits until the job is done.
  func wait(for number: Int) -> Outcome {
    monitor.locked {
      while true {
        if let outcome = outcomes[number] { return outcome }
        monitor.wait()
      }
    }
  }
}
