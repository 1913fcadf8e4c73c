/// What happens to a time that clocks skip or show twice because they are set forward or back.
public struct DaylightPolicy: Sendable, Hashable {
  /// A time that is skipped when clocks are set forward.
  public enum Gap: String, Sendable, Hashable, CaseIterable {
    /// It moves by as much as the clocks are set forward: 02:30 becomes 03:30.
    case shift
    /// It is omitted that day.
    case skip
  }

  /// A time that comes twice when clocks are set back.
  public enum Repeated: String, Sendable, Hashable, CaseIterable {
    /// The first time alone.
    case first
    /// The second time alone.
    case last
    /// Both times.
    case both
  }

  /// Default: ``Gap/shift``.
  public var gap: Gap
  /// Default: ``Repeated/first``.
  public var repeated: Repeated

  /// Creates a policy.
  public init(gap: Gap = .shift, repeated: Repeated = .first) {
    self.gap = gap
    self.repeated = repeated
  }
}
