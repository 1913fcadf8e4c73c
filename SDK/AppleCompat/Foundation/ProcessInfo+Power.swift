public import Foundation
import TaskHostSDK

extension ProcessInfo {
  /// Whether power is short: the host's condition `battery_not_low` does not hold. False if no run is live, and for a host that does not say.
  ///
  /// Asks the host each time. There is no notification of changes: let the request require `battery_not_low`, and its run expires.
  public var isLowPowerModeEnabled: Bool {
    let readings = CurrentRun.any?.call { try? $0.conditions() } ?? nil
    return readings?.contains { $0.condition == .batteryNotLow && !$0.holds } ?? false
  }
}
