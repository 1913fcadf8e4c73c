import TaskModel

/// The thresholds and delays of conditions.
public struct ConditionSettings: Sendable, Hashable {
  /// Network interfaces whose traffic costs money: `["wwan0"]`.
  public var meteredInterfaces: Set<String> = []
  /// How long the network must be available before the condition holds; filters out links that flap.
  public var networkHoldsAfter = Duration.seconds(2)
  /// How long the network must be unavailable before the condition is lost.
  public var networkLostAfter = Duration.seconds(1)

  /// How long external power must be connected before the condition holds.
  public var powerHoldsAfter = Duration.seconds(5)
  /// How long external power must be disconnected before the condition is lost.
  public var powerLostAfter = Duration.seconds(1)
  /// Charge in percent below which the battery is low.
  public var batteryLow = 15.0
  /// Charge in percent at which the battery is no longer low.
  public var batteryOK = 20.0
  /// How often to read the power supplies while a request needs power or battery, besides after the kernel's reports.
  public var powerEvery = Duration.seconds(30)

  /// One-minute load average per processor up to which the machine is idle.
  public var idleLoad = 0.3
  /// One-minute load average per processor above which the machine is busy.
  public var busyLoad = 0.7
  /// Share of the last ten seconds, in percent, in which tasks waited for a processor or disk; up to this, the machine is idle.
  public var idlePressure = 5.0
  /// The same share, above which the machine is busy.
  public var busyPressure = 20.0
  /// How long the machine must be idle before the condition holds.
  public var idleHoldsAfter = Duration.seconds(60)
  /// How long the machine must be busy before the condition is lost.
  public var idleLostAfter = Duration.seconds(5)
  /// How often to read load and pressure while a request waits for an idle machine.
  public var idleEvery = Duration.seconds(15)

  /// Free share of the file system, in percent, below which storage is low.
  public var storageLow = 5.0
  /// Free share in percent at which storage is no longer low.
  public var storageOK = 7.0
  /// Free bytes below which storage is low, whatever the share.
  public var storageLowBytes: UInt64 = 512 << 20
  /// Free bytes at which storage is no longer low.
  public var storageOKBytes: UInt64 = 640 << 20
  /// How often to read free storage while a request waits for it.
  public var storageEvery = Duration.seconds(60)

  /// Creates the default settings.
  public init() {}

  /// Sentences about contradictions, with the names of configuration keys.
  public var problems: [String] {
    var found: [String] = []
    func ordered(_ low: Double, _ lowKey: String, _ high: Double, _ highKey: String) {
      guard low.isFinite, high.isFinite, low >= 0 else {
        return found.append("\(lowKey) = \(low) and \(highKey) = \(high): both must be numbers from 0")
      }
      if low > high {
        found.append("\(lowKey) = \(low) is above \(highKey) = \(high): it must be lower, because nothing changes between the two")
      }
    }
    ordered(batteryLow, "battery_low", batteryOK, "battery_ok")
    ordered(idleLoad, "idle_load", busyLoad, "busy_load")
    ordered(idlePressure, "idle_pressure", busyPressure, "busy_pressure")
    ordered(storageLow, "storage_low", storageOK, "storage_ok")
    ordered(Double(storageLowBytes), "storage_low_bytes", Double(storageOKBytes), "storage_ok_bytes")
    for (percent, key) in [(batteryOK, "battery_ok"), (busyPressure, "busy_pressure"), (storageOK, "storage_ok")] where percent > 100 {
      found.append("\(key) = \(percent): a share of a whole is at most 100")
    }
    for (every, key) in [(powerEvery, "power_every"), (idleEvery, "idle_every"), (storageEvery, "storage_every")]
    where every < .seconds(1) { found.append("\(key) = \(every): reading more often than each second would keep the machine awake") }
    for (after, key) in [
      (networkHoldsAfter, "network_holds_after"), (networkLostAfter, "network_lost_after"), (powerHoldsAfter, "power_holds_after"),
      (powerLostAfter, "power_lost_after"), (idleHoldsAfter, "idle_holds_after"), (idleLostAfter, "idle_lost_after"),
    ] where after < .zero { found.append("\(key) = \(after): it cannot be negative") }
    return found
  }
}
