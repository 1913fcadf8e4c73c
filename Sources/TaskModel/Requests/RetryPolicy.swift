/// How often and how soon a request that failed for now is tried again.
public struct RetryPolicy: Sendable, Hashable {
  /// How the delay grows with each attempt.
  public enum Backoff: String, Sendable, CaseIterable {
    /// `initial` times the attempts spent.
    case linear
    /// `initial` doubled with each attempt spent.
    case exponential
  }

  /// How many runs may count as an attempt before the request has failed; at least 1.
  public var attempts: Int
  /// How the delay grows.
  public var backoff: Backoff
  /// The first delay.
  public var initial: Duration
  /// The longest delay, jitter included.
  public var maximum: Duration

  /// The policy as given; `attempts` below 1 count as 1.
  public init(attempts: Int = 5, backoff: Backoff = .exponential, initial: Duration = .seconds(30), maximum: Duration = .seconds(5 * 3600))
  {
    self.attempts = max(1, attempts)
    self.backoff = backoff
    self.initial = initial
    self.maximum = maximum
  }

  /// The delay after the `attempt`th attempt (1 for the first) was spent.
  ///
  /// - Parameter jitter: −1 … 1; the delay is moved by up to 20 % of itself, so that requests that failed together do not return together.
  ///   What would exceed ``maximum`` lies as much below it, so that the longest delays are spread too.
  /// - Source: WorkManager's backoff (30 s to 5 h); the jitter is ours.
  public func delay(afterAttempt attempt: Int, jitter: Double) -> Duration {
    let steps = max(1, attempt)
    let initialMilliseconds = Double(max(0, initial.wholeMilliseconds))
    let grown =
      switch backoff {
      case .linear: initialMilliseconds * Double(steps)
      case .exponential: initialMilliseconds * Self.powerOfTwo(min(steps - 1, 62))
      }
    let longest = Double(max(0, maximum.wholeMilliseconds))
    let drawn = min(grown, longest) * (1 + 0.2 * min(1, max(-1, jitter)))
    let moved = drawn > longest ? 2 * longest - drawn : drawn
    // A policy comes from outside and may name the longest duration there is, which a conversion would trap on.
    return .milliseconds(moved < Double(Int64.max) ? Int64(moved) : .max)
  }

  private static func powerOfTwo(_ exponent: Int) -> Double { Double(UInt64(1) << UInt64(exponent)) }
}
