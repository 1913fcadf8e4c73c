/// Counts of durations by size, for monitoring.
public struct DurationHistogram: Sendable, Hashable {
  /// The upper bounds of the buckets, ascending; a longer duration counts only towards the total.
  public static let bounds: [Duration] = [
    .milliseconds(1), .milliseconds(10), .milliseconds(100), .seconds(1), .seconds(5), .seconds(15), .seconds(60), .seconds(300),
    .seconds(900), .seconds(3600), .seconds(14_400), .seconds(86_400),
  ]

  /// The durations in each bucket, those of smaller buckets not included; the last element counts what is longer than every bound.
  public private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
  /// The sum of all durations.
  public private(set) var sum = Duration.zero

  /// Creates a histogram without durations.
  public init() {}

  /// Counts a duration. One below zero counts as zero.
  public mutating func add(_ duration: Duration) {
    let duration = max(.zero, duration)
    let bucket = Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count
    counts[bucket] &+= 1
    sum += duration
  }
}
