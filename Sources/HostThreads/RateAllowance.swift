public import TaskModel

/// How much of something may pass: so much at once, and so much a second in the long run.
///
/// Not thread-safe: whoever has it guards it.
/// - Source: the token bucket.
public struct RateAllowance: Sendable {
  private let burst: Double
  private let perSecond: Double
  private var left: Double
  private var refilled: MonotonicTime
  /// What did not pass since ``takeRefused()`` was last asked.
  private var refused: UInt64 = 0

  /// - Parameters:
  ///   - burst: How many pass at once.
  ///   - perSecond: How many a second in the long run.
  public init(burst: Int, perSecond: Int) {
    self.burst = Double(burst)
    self.perSecond = Double(perSecond)
    left = Double(burst)
    refilled = SystemClock.now
  }

  /// Whether one more may pass at `now`.
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

  /// How many were refused since this was last asked.
  public mutating func takeRefused() -> UInt64 {
    defer { refused = 0 }
    return refused
  }
}
