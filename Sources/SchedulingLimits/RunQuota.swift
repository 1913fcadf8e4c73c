import TaskModel

/// A run time per sliding period: `30m/1d`. Concurrent runs count separately.
public struct RunQuota: Sendable, Hashable, CustomStringConvertible {
  /// The allowed run times: 1 s … 30 d.
  public static let times: ClosedRange<Duration> = .seconds(1) ... .seconds(30 * 86_400)
  /// The allowed periods: 1 min … 30 d.
  public static let periods: ClosedRange<Duration> = .seconds(60) ... .seconds(30 * 86_400)

  /// The run time in the bucket ``BehaviourBucket/active``; whole milliseconds.
  public let time: Duration
  /// Whole milliseconds.
  public let period: Duration

  /// As configurations write it; ``init(_:)`` reads it.
  public var description: String { "\(LengthText.text(time))/\(LengthText.text(period))" }

  /// Reads two durations separated by a slash.
  ///
  /// - Throws: What is wrong, and how to write a quota.
  public init(_ text: String) throws(LimitSyntaxError) {
    func problem(_ observed: String) -> LimitSyntaxError { LimitSyntaxError(kind: "quota", text: text, observed: observed) }
    let halves = text.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, let time = LengthText.parse(halves[0]), let period = LengthText.parse(halves[1]) else {
      throw problem("is not a run time and its period, such as \"30m/1d\"")
    }
    guard Self.times.contains(time) else {
      let (shortest, longest) = (LengthText.text(Self.times.lowerBound), LengthText.text(Self.times.upperBound))
      throw problem("the run time is not from \(shortest) to \(longest)")
    }
    guard Self.periods.contains(period) else {
      let (shortest, longest) = (LengthText.text(Self.periods.lowerBound), LengthText.text(Self.periods.upperBound))
      throw problem("the period is not from \(shortest) to \(longest)")
    }
    self.time = time
    self.period = period
  }

  /// Creates a quota; nil if a part of it is out of range.
  public init?(time: Duration, period: Duration) {
    guard Self.times.contains(time), Self.periods.contains(period) else { return nil }
    self.time = .milliseconds(time.wholeMilliseconds)
    self.period = .milliseconds(period.wholeMilliseconds)
  }
}
