/// The phases of a host's life. They only move forward.
public enum HostPhase: String, Sendable, CaseIterable, Comparable {
  /// The host searches for plugins.
  case discovering
  /// The host calls the plugins' launch functions.
  case registering
  /// The registry is sealed, and requests run.
  case launched
  /// No runs start; live runs end.
  case draining
  /// Everything has ended.
  case stopped

  /// Orders phases by time.
  public static func < (left: HostPhase, right: HostPhase) -> Bool { left.order < right.order }

  private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
