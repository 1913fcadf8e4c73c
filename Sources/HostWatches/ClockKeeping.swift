import CHostWatches

/// Whether something keeps the machine's calendar right.
/// - Source: adjtimex(2), which reads only and needs no privilege.
public enum ClockKeeping: Sendable, Hashable {
  /// A time service has set it not long ago.
  case kept
  /// Nothing does: the clock drifts.
  case adrift
  /// The kernel does not say, as in some containers.
  case unknown

  /// As it is now.
  public static var current: Self {
    switch taskhost_watches_clock_kept() {
    case 1: .kept
    case 0: .adrift
    default: .unknown
    }
  }
}
