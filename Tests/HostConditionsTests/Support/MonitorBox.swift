import HostConditions
import HostThreads

/// A monitor that its own callback is to know.
final class MonitorBox: Sendable {
  private let held = Guarded<ConditionMonitor?>(nil)

  var monitor: ConditionMonitor? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
