/// A network interface.
struct NetworkLink: Sendable, Hashable {
  /// The kernel's number for it.
  var index: Int32
  /// "eth0".
  var name: String
  /// Whether it leads only to this machine.
  var isLoopback: Bool
  /// Whether it is administratively up and has a carrier.
  var isUp: Bool
}
