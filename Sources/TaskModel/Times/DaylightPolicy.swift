/// What happens to a time that clocks skip or show twice when they are set forward or back.
public struct DaylightPolicy: Sendable, Hashable {
  /// A time that is skipped when clocks are set forward.
  public enum Gap: String, Sendable, Hashable, CaseIterable {
    /// The time moves by as much as the clocks are set forward: 02:30 becomes 03:30.
    case shift
    /// The time is omitted that day.
    case skip
  }

  /// A time that comes twice when clocks are set back.
  public enum Repeated: String, Sendable, Hashable, CaseIterable {
    /// Only the first time counts.
    case first
    /// Only the second time counts.
    case last
    /// Both times count.
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
