import Synchronization

/// The bytes of bodies in memory, over all connections, so that many large submissions cannot exhaust the host.
final class BodyBudget: Sendable {
  /// Largest body of `POST /v1/requests`: a thousand requests with the largest payload, or 10,000 with 6 KiB each.
  static let submissionBytes = 64 * 1_048_576
  /// Largest body of most other routes.
  static let otherBytes = 65_536

  /// How many bytes are free.
  private let free = Mutex(4 * submissionBytes)

  /// Takes `count` bytes, or none; returns whether it did.
  func take(_ count: Int) -> Bool {
    free.withLock { free in
      guard free >= count else { return false }
      free -= count
      return true
    }
  }

  func giveBack(_ count: Int) { if count > 0 { free.withLock { $0 += count } } }
}
