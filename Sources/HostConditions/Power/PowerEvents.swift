/// Listens for the kernel's reports about power supplies.
final class PowerEvents {
  private var socket: NetlinkSocket?

  /// The descriptor to poll; nil if not listening: then the supplies are read periodically only.
  var descriptor: Int32? { socket?.descriptor }

  func watch(_ wanted: Bool) {
    if !wanted {
      socket = nil
    } else if socket == nil {
      // NETLINK_KOBJECT_UEVENT, group 1: the kernel's. Without it, periodic reading must suffice.
      socket = try? NetlinkSocket(protocol: 15, groups: 1)
    }
  }

  /// Receives the kernel's reports. Returns true if the supplies must be read.
  func receive() -> Bool {
    var isOfPower = false
    while let socket {
      switch socket.receive() {
      case .nothing: return isOfPower
      case .lost: isOfPower = true
      case .failed:
        self.socket = nil
        return true
      case .datagram(let bytes): isOfPower = isOfPower || Self.isOfPower(bytes)
      }
    }
    return isOfPower
  }

  /// Whether a message, whose lines end with a zero byte, is about a power supply.
  static func isOfPower(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=power_supply".utf8) }
  }
}
