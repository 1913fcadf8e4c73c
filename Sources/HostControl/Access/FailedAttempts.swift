import Synchronization
import TaskModel

/// Counts the wrong tokens that each address has shown, for a bounded number of addresses.
final class FailedAttempts: Sendable {
  /// Wrong tokens in one window; further ones are answered with 429.
  static let mostInWindow = 10
  /// How long a window is, from the first wrong token.
  static let window = Duration.seconds(60)
  private static let mostAddresses = 1024

  private struct Count {
    var since: MonotonicTime
    var number: Int
  }

  private let counts = Mutex<[String: Count]>([:])

  /// Counts a wrong token.
  ///
  /// - Returns: How long the address must wait before its next one is looked at in earnest; nil while it has shown few.
  func count(_ address: String, at now: MonotonicTime) -> Duration? {
    counts.withLock { counts in
      if let known = counts[address], now - known.since < Self.window {
        counts[address]?.number += 1
        return known.number < Self.mostInWindow ? nil : Self.window - (now - known.since)
      }
      if counts[address] == nil, counts.count >= Self.mostAddresses, let oldest = counts.min(by: { $0.value.since < $1.value.since })?.key {
        counts[oldest] = nil
      }
      counts[address] = Count(since: now, number: 1)
      return nil
    }
  }
}
