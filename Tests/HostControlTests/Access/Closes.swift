import Synchronization

/// Counts connections that were closed.
final class Closes: Sendable {
  private let closed = Mutex(0)
  var number: Int { closed.withLock { $0 } }
  func count() { closed.withLock { $0 += 1 } }
}
