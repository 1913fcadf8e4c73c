import Glibc

/// Asks the kernel for all interfaces and all default routes.
enum RouteDump {
  struct Failure: Error, Hashable {
    /// A sentence without a full stop.
    var reason: String
  }

  /// How often to repeat a disturbed dump, and how long to wait for the kernel, which answers from memory.
  private static let attempts = 4
  private static let patience: Int32 = 1000

  /// Takes time in proportion to the number of routes, a millisecond for a thousand.
  static func make() throws(Failure) -> NetworkTable {
    // A dump that is disturbed every time is still the newest, and the disturbance itself arrives as a change.
    var table = NetworkTable()
    for _ in 0..<attempts {
      table = NetworkTable()
      do throws(NetlinkSocket.Failure) {
        let socket = try NetlinkSocket(protocol: RouteProtocol.family, groups: 0)
        // `struct ifinfomsg` has 16 bytes, `struct rtmsg` 12; both begin with the family.
        let areLinksWhole = try ask(socket, RouteProtocol.getLink, family: 0, length: 16, into: &table)
        let areRoutesWhole = try ask(socket, RouteProtocol.getRoute, family: UInt8(AF_INET), length: 12, into: &table)
        let areRoutes6Whole = try ask(socket, RouteProtocol.getRoute, family: UInt8(AF_INET6), length: 12, into: &table)
        if areLinksWhole, areRoutesWhole, areRoutes6Whole { break }
      } catch { throw Failure(reason: "netlink: \(error.call): \(TextFile.reason(error.code))") }
    }
    return table
  }

  /// Makes one dump. Returns false if something changed meanwhile.
  private static func ask(
    _ socket: NetlinkSocket, _ type: UInt16, family: UInt8, length: Int, into table: inout NetworkTable
  ) throws(NetlinkSocket.Failure) -> Bool {
    if let code = socket.send(request(type, family: family, length: length)) { throw .init(code: code, call: "send") }
    var isWhole = true
    while true {
      switch socket.receive() {
      case .nothing:
        guard socket.wait(milliseconds: patience) else { throw .init(code: ETIMEDOUT, call: "receive") }
      case .lost: return false
      case .failed(let code): throw .init(code: code, call: "receive")
      case .datagram(let bytes):
        let (messages, interrupted) = RouteParser(bytes).messages()
        if interrupted { isWhole = false }
        for message in messages {
          switch message {
          case .done: return isWhole
          // A kernel without IPv6 has no IPv6 routes.
          case .refused(let code) where code == EOPNOTSUPP || code == EAFNOSUPPORT: return isWhole
          case .refused(let code) where code != 0: throw .init(code: code, call: "dump")
          case .overrun: return false
          default: table.add(message)
          }
        }
      }
    }
  }

  private static func request(_ type: UInt16, family: UInt8, length: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes += $0 } }
    append(UInt32(16 + length))
    append(type)
    append(RouteProtocol.dump)
    append(UInt32(1))
    append(UInt32(0))
    bytes.append(family)
    return bytes + [UInt8](repeating: 0, count: length - 1)
  }
}
