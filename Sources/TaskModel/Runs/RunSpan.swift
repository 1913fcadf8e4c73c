/// A part of a run that its handler has measured, for the run's trace.
public struct RunSpan: Sendable, Hashable {
  /// What it did: 1 to ``Limits/spanNameBytes`` bytes, a ``PluginText`` line.
  public var name: String
  /// When it began, in nanoseconds since 1970.
  public var start: UInt64
  /// When it ended; not before ``start``.
  public var end: UInt64
  /// A JSON object, at most ``Limits/spanAttributeBytes``; empty for none. It is as the handler wrote it, unchecked.
  public var attributes: [UInt8]
  /// Whether it failed.
  public var hasFailed: Bool

  /// Creates a span.
  public init(name: String, start: UInt64, end: UInt64, attributes: [UInt8] = [], hasFailed: Bool = false) {
    (self.name, self.start, self.end, self.attributes, self.hasFailed) = (name, start, end, attributes, hasFailed)
  }
}
