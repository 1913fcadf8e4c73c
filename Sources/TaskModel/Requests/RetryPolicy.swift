/// How often and how soon a request is retried.
public struct RetryPolicy: Sendable, Hashable {
  /// How the delay grows with each attempt.
  public enum Backoff: String, Sendable, CaseIterable {
    /// `initial` times the attempts spent.
    case linear
    /// `initial` doubled with each attempt spent.
    case exponential
  }

  /// The number of attempts before the request fails permanently; at least 1.
  public var attempts: Int
  /// How the delay grows.
  public var backoff: Backoff
  /// The first delay.
  public var initial: Duration
  /// The longest delay, jitter included.
  public var maximum: Duration

  /// Creates a policy; `attempts` below 1 count as 1.
  public init(attempts: Int = 5, backoff: Backoff = .exponential, initial: Duration = .seconds(30), maximum: Duration = .seconds(5 * 3600))
  {
    self.attempts = max(1, attempts)
    self.backoff = backoff
    self.initial = initial
    self.maximum = maximum
  }

  /// The delay after attempt number `attempt`, from 1.
  ///
  /// - Parameter jitter: −1 … 1. Changes the delay by up to 20 %, so that requests that failed together do not return together. A delay
  ///   that would exceed ``maximum`` is mirrored below it, so that the longest delays are spread too.
  /// - Source: WorkManager's backoff (30 s to 5 h), with jitter added.
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
    // A policy comes from outside and can specify the longest possible duration, for which a conversion would trap.
    return .milliseconds(moved < Double(Int64.max) ? Int64(moved) : .max)
  }

  private static func powerOfTwo(_ exponent: Int) -> Double { Double(UInt64(1) << UInt64(exponent)) }
}
