import HostThreads

/// Counts answers from any thread.
final class Answered: Sendable {
  private let answers = Guarded(0)

  func note() { answers.withLock { $0 += 1 } }

  var count: Int { answers.withLock { $0 } }
}
