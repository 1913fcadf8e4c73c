/// Hears from the kernel that a power supply changed.
final class PowerEvents {
  private var socket: NetlinkSocket?

  /// What is waited for with poll; nil if the kernel is not heard, and the supplies are read at times only.
  var descriptor: Int32? { socket?.descriptor }

  /// Begins or ends to listen.
  func watch(_ wanted: Bool) {
    if !wanted {
      socket = nil
    } else if socket == nil {
      // NETLINK_KOBJECT_UEVENT, the kernel's own group. Where it cannot be opened, reading at times has to do.
      socket = try? NetlinkSocket(protocol: 15, groups: 1)
    }
  }

  /// Takes what the kernel sent; true: the supplies are to be read.
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

  /// Whether a message, of lines that end in a zero byte, is of a power supply.
  static func isOfPower(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=power_supply".utf8) }
  }
}
