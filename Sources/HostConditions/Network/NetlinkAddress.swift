import Glibc

/// A `struct sockaddr_nl`, which Swift's Glibc does not have.
struct NetlinkAddress {
  private var family = UInt16(AF_NETLINK)
  private var padding: UInt16 = 0
  /// The sender's port: 0 is the kernel.
  private(set) var port: UInt32 = 0
  private var groups: UInt32

  init(groups: UInt32) { self.groups = groups }

  /// Calls `body` with the address in the form of socket calls, and its length of 12 bytes.
  mutating func withSocketAddress<Value>(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafeMutableBytes(of: &self) { bytes in
      // Of the 16 bytes of a sockaddr, only the given length is used.
      var whole = sockaddr()
      withUnsafeMutableBytes(of: &whole) { $0.copyBytes(from: bytes) }
      defer { withUnsafeBytes(of: &whole) { bytes.copyBytes(from: $0.prefix(bytes.count)) } }
      return body(&whole, socklen_t(bytes.count))
    }
  }
}
