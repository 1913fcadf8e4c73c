public import TaskModel

/// Limits a rate: a burst at once, and an average per second in the long run.
///
/// Not thread-safe: the owner guards it.
///
/// - Source: The token bucket.
public struct RateAllowance: Sendable {
  private let burst: Double
  private let perSecond: Double
  private var left: Double
  private var refilled: MonotonicTime
  /// The number refused since the last call of ``takeRefused()``.
  private var refused: UInt64 = 0

  /// Creates a full allowance.
  ///
  /// - Parameters:
  ///   - burst: The number that may pass at once.
  ///   - perSecond: The average number per second in the long run.
  public init(burst: Int, perSecond: Int) {
    self.burst = Double(burst)
    self.perSecond = Double(perSecond)
    left = Double(burst)
    refilled = SystemClock.now
  }

  /// Returns whether one more may pass at `now`, and counts it.
  public mutating func pass(at now: MonotonicTime) -> Bool {
    left = min(burst, left + Double((now - refilled).wholeNanoseconds) / 1e9 * perSecond)
    refilled = now
    guard left >= 1 else {
      refused += 1
      return false
    }
    left -= 1
    return true
  }

  /// Returns the number refused since the last call, and resets it.
  public mutating func takeRefused() -> UInt64 {
    defer { refused = 0 }
    return refused
  }
}
