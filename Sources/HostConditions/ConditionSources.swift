import Glibc

/// Where to read the conditions of the machine: the machine itself, or files that replace it.
public struct ConditionSources: Sendable {
  /// The directory with a directory for each power supply.
  public var powerSupplies = "/sys/class/power_supply"
  /// The directory with `cpu` and `io` in it. Triggers are set only in the kernel's own directory.
  public var pressure = ConditionSources.kernelPressure
  /// The file with the load averages.
  public var loadAverage = "/proc/loadavg"
  /// A path on the file system whose free space counts: the state directory.
  public var storage: String
  /// Online processors, over which the load is shared; at least 1.
  public var processors: Int
  /// The system bus, on which NetworkManager is asked whether the connection is metered; nil if it is not to be asked.
  public var systemBus: String? = "/run/dbus/system_bus_socket"
  /// The number of threads that the host itself keeps busy. They do not count as load, so that a run that requires an idle machine does not
  /// lose the condition by running. Called on the monitor's thread.
  public var ownLoad: @Sendable () -> Double = { 0 }

  /// Bytes of the receive buffer of the route socket; nil means the kernel's default.
  package var routeBuffer: Int32?

  static let kernelPressure = "/proc/pressure"

  /// This machine, with `storage` as the path whose file system counts.
  public init(storage: String) {
    self.storage = storage
    processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }
}
