import TaskModel

/// A number of starts per period: `100/1m`, `5/10s`, `60/1h`.
public struct Rate: Sendable, Hashable, CustomStringConvertible {
  /// The allowed numbers of starts.
  public static let counts = 1...1_000_000
  /// The allowed periods: 1 s … 30 d.
  public static let periods: ClosedRange<Duration> = .seconds(1) ... .seconds(30 * 86_400)

  /// The maximum number of starts in any interval as long as ``period``.
  public let count: Int
  /// Whole milliseconds.
  public let period: Duration

  /// As configurations write it; ``init(_:)`` reads it.
  public var description: String { "\(count)/\(LengthText.text(period))" }

  /// Reads a count, a slash and a duration.
  ///
  /// - Throws: What is wrong, and how to write a rate.
  public init(_ text: String) throws(LimitSyntaxError) {
    func problem(_ observed: String) -> LimitSyntaxError { LimitSyntaxError(kind: "rate", text: text, observed: observed) }
    let halves = text.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { throw problem("is not a number of starts and a duration, such as \"100/1m\"") }
    guard halves[0].allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(halves[0]), Self.counts.contains(count) else {
      throw problem("the number of starts is not from \(Self.counts.lowerBound) to \(Self.counts.upperBound)")
    }
    guard let period = LengthText.parse(halves[1]) else {
      throw problem("\"\(halves[1])\" is not a duration: write it as \"10s\", \"1m\" or \"1h\"")
    }
    guard Self.periods.contains(period) else {
      let (shortest, longest) = (LengthText.text(Self.periods.lowerBound), LengthText.text(Self.periods.upperBound))
      throw problem("the duration is not from \(shortest) to \(longest)")
    }
    self.count = count
    self.period = period
  }

  /// Creates a rate; nil if a part of it is out of range.
  public init?(count: Int, period: Duration) {
    guard Self.counts.contains(count), Self.periods.contains(period) else { return nil }
    self.count = count
    self.period = .milliseconds(period.wholeMilliseconds)
  }
}
