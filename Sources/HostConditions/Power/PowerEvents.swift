/// Listens to the kernel for changes of power supplies.
final class PowerEvents {
  private var socket: NetlinkSocket?

  /// The descriptor to poll; nil if not listening, and the supplies are only read periodically.
  var descriptor: Int32? { socket?.descriptor }

  func watch(_ wanted: Bool) {
    if !wanted {
      socket = nil
    } else if socket == nil {
      // NETLINK_KOBJECT_UEVENT, the kernel's own group. If it cannot be opened, periodic reading must suffice.
      socket = try? NetlinkSocket(protocol: 15, groups: 1)
    }
  }

  /// Receives what the kernel sent. Returns true if the supplies must be read.
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

  /// Whether a message, whose lines end in a zero byte, concerns a power supply.
  static func isOfPower(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=power_supply".utf8) }
  }
}
