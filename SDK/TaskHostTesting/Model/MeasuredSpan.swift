/// A part of a run that it measured for its trace, with `withSpan` or the table of C.
public struct MeasuredSpan: Sendable, Hashable {
  /// What it did.
  public let name: String
  /// Its attributes as JSON; empty if it has none.
  public let attributes: String
  /// Whether it failed.
  public let hasFailed: Bool
}
