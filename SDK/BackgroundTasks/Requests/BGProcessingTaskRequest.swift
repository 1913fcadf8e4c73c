import CTaskHost
import Synchronization

/// Asks for a run of minutes, with optional conditions. Each plugin may have ten such requests pending.
open class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {  // reason: what changes is behind a lock
  private let needs = Mutex<UInt32>(0)

  /// Creates a request for the task registered as `identifier`.
  public init(identifier: String) {
    super.init(identifier: identifier)
  }

  /// Whether the run needs a network. A run that loses the network expires. Default: false.
  open var requiresNetworkConnectivity: Bool {
    get { needs(TASKHOST_REQUIRES_NETWORK) }
    set { need(TASKHOST_REQUIRES_NETWORK, newValue) }
  }

  /// Whether the run needs external power; a machine without a battery has it. Default: false.
  open var requiresExternalPower: Bool {
    get { needs(TASKHOST_REQUIRES_POWER) }
    set { need(TASKHOST_REQUIRES_POWER, newValue) }
  }

  override func duplicate() -> BGTaskRequest {
    let copy = BGProcessingTaskRequest(identifier: identifier)
    copy.take(self)
    return copy
  }

  func take(_ other: BGProcessingTaskRequest) {
    earliestBeginDate = other.earliestBeginDate
    requiresNetworkConnectivity = other.requiresNetworkConnectivity
    requiresExternalPower = other.requiresExternalPower
  }

  override var conditions: UInt32 { needs.withLock { $0 } }

  private func needs(_ bit: Int) -> Bool { needs.withLock { $0 & UInt32(bit) != 0 } }

  private func need(_ bit: Int, _ isNeeded: Bool) {
    needs.withLock { $0 = isNeeded ? $0 | UInt32(bit) : $0 & ~UInt32(bit) }
  }
}
