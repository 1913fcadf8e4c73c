import TaskModel

/// A run time per sliding period: `30m/1d`. Concurrent runs count separately.
///
/// A bucket gets its share of the time in the same period, or a time and a period of its own.
public struct RunQuota: Sendable, Hashable, CustomStringConvertible {
  /// The allowed run times: 1 s … 30 d.
  public static let times: ClosedRange<Duration> = .seconds(1) ... .seconds(30 * 86_400)
  /// The allowed periods: 1 min … 30 d.
  public static let periods: ClosedRange<Duration> = .seconds(60) ... .seconds(30 * 86_400)

  /// The run time in the bucket ``BehaviourBucket/active``; whole milliseconds.
  public let time: Duration
  /// Whole milliseconds.
  public let period: Duration

  /// A run time and its period.
  public struct Allowance: Sendable, Hashable {
    /// Whole milliseconds.
    public let time: Duration
    /// Whole milliseconds.
    public let period: Duration
  }

  /// The allowances of buckets that are no share of ``time``; none, or one for each bucket.
  private let own: [BehaviourBucket: Allowance]

  /// As configurations write it, with an entry for each bucket that has its own allowance. ``init(_:)`` reads it if none has.
  public var description: String {
    guard !own.isEmpty else { return Self.text(time, period) }
    return BehaviourBucket.allCases.compactMap { bucket in own[bucket].map { "\(bucket.rawValue) \(Self.text($0.time, $0.period))" } }
      .joined(separator: ", ")
  }

  private static func text(_ time: Duration, _ period: Duration) -> String { "\(LengthText.text(time))/\(LengthText.text(period))" }

  /// The run time of a bucket.
  public func allowance(in bucket: BehaviourBucket) -> Allowance {
    own[bucket] ?? Allowance(time: .milliseconds(time.wholeMilliseconds / Int64(bucket.divisor)), period: period)
  }

  /// Whether each bucket has an allowance of its own, which is not a share of ``time``.
  var hasOwnAllowances: Bool { !own.isEmpty }

  /// The longest period in which run time counts.
  var longestPeriod: Duration { own.values.reduce(period) { max($0, $1.period) } }

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
    (self.time, self.period, own) = (time, period, [:])
  }

  /// Creates a quota with its own run time and period for each bucket; nil if one of them is missing.
  ///
  /// - Parameter buckets: Of each quota, the time and the period count.
  public init?(buckets: [BehaviourBucket: RunQuota]) {
    guard let active = buckets[.active], buckets.count == BehaviourBucket.allCases.count else { return nil }
    (time, period) = (active.time, active.period)
    own = buckets.mapValues { Allowance(time: $0.time, period: $0.period) }
  }

  /// Creates a quota; nil if a part of it is out of range.
  public init?(time: Duration, period: Duration) {
    guard Self.times.contains(time), Self.periods.contains(period) else { return nil }
    self.time = .milliseconds(time.wholeMilliseconds)
    self.period = .milliseconds(period.wholeMilliseconds)
    own = [:]
  }
}
