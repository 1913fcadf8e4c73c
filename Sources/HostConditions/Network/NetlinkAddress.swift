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
      var whole = sockaddr()
      withUnsafeMutableBytes(of: &whole) { $0.copyBytes(from: bytes) }
      defer { withUnsafeBytes(of: &whole) { bytes.copyBytes(from: $0.prefix(bytes.count)) } }
      return body(&whole, socklen_t(bytes.count))
    }
  }
}
