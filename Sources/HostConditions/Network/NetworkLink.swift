/// A network interface.
struct NetworkLink: Sendable, Hashable {
  /// The kernel's number for it.
  var index: Int32
  /// "eth0".
  var name: String
  /// Whether it leads to this machine itself only.
  var isLoopback: Bool
  /// Whether an administrator wants it up and it has a carrier.
  var isUp: Bool
}
