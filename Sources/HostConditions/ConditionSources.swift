import Glibc

/// Where to read the machine's conditions: from the machine itself or from substitute files.
public struct ConditionSources: Sendable {
  /// The directory with one directory for each power supply.
  public var powerSupplies = "/sys/class/power_supply"
  /// The directory with `cpu` and `io`. Triggers are set only in the kernel's own directory.
  public var pressure = ConditionSources.kernelPressure
  /// The file with the load averages.
  public var loadAverage = "/proc/loadavg"
  /// A path on the file system whose free space matters: the state directory.
  public var storage: String
  /// The number of online processors, at least 1, which share the load.
  public var processors: Int
  /// The socket of the system bus, to ask NetworkManager whether the connection is metered; nil disables the question.
  public var systemBus: String? = ConditionSources.systemBusSocket
  /// The number of threads that the host itself keeps busy. They do not count as load: otherwise a run that requires an idle machine would
  /// end the condition itself. Called on the monitor's thread.
  public var ownLoad: @Sendable () -> Double = { 0 }

  /// The size of the route socket's receive buffer in bytes; nil means the kernel's default.
  package var routeBuffer: Int32?

  /// Where the system bus listens.
  public static let systemBusSocket = "/run/dbus/system_bus_socket"

  static let kernelPressure = "/proc/pressure"

  /// Creates the sources of this machine, with a path on the file system that counts.
  public init(storage: String) {
    self.storage = storage
    processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }
}
