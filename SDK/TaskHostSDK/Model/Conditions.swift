import CTaskHost

/// The conditions that must hold for a request to start and while it runs.
public struct Conditions: OptionSet, Sendable {
  /// The `TASKHOST_REQUIRES_` bits. The host refuses a bit it does not know.
  public let rawValue: UInt32

  /// A set of `TASKHOST_REQUIRES_` bits.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Any network.
  public static let network = Conditions(rawValue: UInt32(TASKHOST_REQUIRES_NETWORK))
  /// A network that is not metered.
  public static let unmetered = Conditions(rawValue: UInt32(TASKHOST_REQUIRES_UNMETERED))
  /// External power.
  public static let power = Conditions(rawValue: UInt32(TASKHOST_REQUIRES_POWER))
  /// An idle machine.
  public static let idle = Conditions(rawValue: UInt32(TASKHOST_REQUIRES_IDLE))
  /// A battery that is not low.
  public static let batteryNotLow = Conditions(rawValue: UInt32(TASKHOST_REQUIRES_BATTERY_NOT_LOW))
  /// Storage that is not low.
  public static let storageNotLow = Conditions(rawValue: UInt32(TASKHOST_REQUIRES_STORAGE_NOT_LOW))
}
