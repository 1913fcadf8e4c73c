import Glibc

/// A `struct sockaddr_nl`, which Swift's Glibc does not have.
struct NetlinkAddress {
  private var family = UInt16(AF_NETLINK)
  private var padding: UInt16 = 0
  /// Whose it is: 0 is the kernel.
  private(set) var port: UInt32 = 0
  private var groups: UInt32

  init(groups: UInt32) { self.groups = groups }

  /// Calls `body` with the address as the socket calls want it, and its length of 12 bytes.
  mutating func withSocketAddress<Value>(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafeMutableBytes(of: &self) { bytes in
      // A sockaddr of 16 bytes is not touched beyond the length that goes with it.
      var whole = [UInt8](repeating: 0, count: MemoryLayout<sockaddr>.size)
      for (index, byte) in bytes.enumerated() { whole[index] = byte }
      defer { for index in bytes.indices { bytes[index] = whole[index] } }
      return whole.withUnsafeMutableBytes { whole in
        whole.withMemoryRebound(to: sockaddr.self) { rebound in
          guard let base = rebound.baseAddress else { preconditionFailure("an array of 16 bytes has an address") }
          return body(base, socklen_t(bytes.count))
        }
      }
    }
  }
}
