/// What became of the spans of a host's traces.
public struct SpanCounts: Sendable, Hashable {
  /// Spans that a collector has taken.
  public var exported: Int
  /// Spans that were given up: no room was left, the collector refused them, or the host ended.
  public var dropped: Int

  /// Creates counts.
  public init(exported: Int = 0, dropped: Int = 0) { (self.exported, self.dropped) = (exported, dropped) }
}
