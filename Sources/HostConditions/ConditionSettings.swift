import TaskModel

/// The thresholds and delays of conditions.
public struct ConditionSettings: Sendable, Hashable {
  /// Names of network interfaces through which traffic costs money: `["wwan0"]`.
  public var meteredInterfaces: Set<String> = []
  /// How long the network must be there before it holds (a link that flaps does not).
  public var networkHoldsAfter = Duration.seconds(2)
  /// How long it must be gone before it is lost.
  public var networkLostAfter = Duration.seconds(1)

  /// How long external power must be there before it holds.
  public var powerHoldsAfter = Duration.seconds(5)
  /// How long it must be gone before it is lost.
  public var powerLostAfter = Duration.seconds(1)
  /// Charge in percent below which the battery is low.
  public var batteryLow = 15.0
  /// Charge in percent from which the battery is no longer low.
  public var batteryOK = 20.0
  /// How often the power supplies are read while something needs power or the battery, besides when the kernel reports a change.
  public var powerEvery = Duration.seconds(30)

  /// Load average of one minute, per processor, up to which the machine counts as idle.
  public var idleLoad = 0.3
  /// The same, above which it is busy.
  public var busyLoad = 0.7
  /// Share of the last ten seconds, in percent, in which something waited for a processor or a disk. Up to this, the machine is idle.
  public var idlePressure = 5.0
  /// The same, above which it is busy.
  public var busyPressure = 20.0
  /// How long the machine must be idle before it holds.
  public var idleHoldsAfter = Duration.seconds(60)
  /// How long it must be busy before that is lost.
  public var idleLostAfter = Duration.seconds(5)
  /// How often load and pressure are read while something waits for an idle machine.
  public var idleEvery = Duration.seconds(15)

  /// Free share of the file system, in percent, below which storage is low.
  public var storageLow = 5.0
  /// Free share, in percent, from which storage is no longer low.
  public var storageOK = 7.0
  /// Free bytes below which storage is low, whatever the share.
  public var storageLowBytes: UInt64 = 512 << 20
  /// Free bytes from which storage is no longer low.
  public var storageOKBytes: UInt64 = 640 << 20
  /// How often free storage is read while something waits for it.
  public var storageEvery = Duration.seconds(60)

  /// The defaults.
  public init() {}

  /// Sentences about contradictions, which name the keys of the configuration.
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
