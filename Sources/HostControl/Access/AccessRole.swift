/// What a client may do. A role includes those before it.
public enum AccessRole: String, Sendable, CaseIterable, Comparable {
  /// Looks at requests, runs, plugins and the host.
  case read
  /// Submits requests and events, and cancels requests.
  case submit
  /// Everything.
  case operate

  /// Orders roles by what they may do.
  public static func < (left: AccessRole, right: AccessRole) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
