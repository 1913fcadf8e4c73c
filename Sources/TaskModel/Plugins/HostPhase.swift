/// The phases of a host's life; the only way is forward.
public enum HostPhase: String, Sendable, CaseIterable, Comparable {
  /// Looks for plugins.
  case discovering
  /// Calls their launch functions.
  case registering
  /// The registry is sealed; requests are run.
  case launched
  /// No new runs; live ones end.
  case draining
  /// Everything has ended.
  case stopped

  /// Earlier in a host's life.
  public static func < (left: HostPhase, right: HostPhase) -> Bool { left.order < right.order }

  private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
