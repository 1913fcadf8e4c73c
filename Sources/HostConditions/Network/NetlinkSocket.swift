import Glibc

/// A netlink socket, closed with the last reference.
package final class NetlinkSocket {
  let descriptor: Int32
  /// The kernel fills at most 32 KiB of a dump at once.
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  enum Received: Hashable {
    case datagram([UInt8])
    /// Nothing is available, or nothing arrived in time.
    case nothing
    case lost
    /// The socket is unusable, because of this `errno`.
    case failed(Int32)
  }

  package struct Failure: Error, Hashable {
    package var code: Int32
    /// What failed: "socket", "bind".
    package var call: String
  }

  /// Opens a non-blocking socket that receives messages to `groups`.
  ///
  /// - Parameter receiveBuffer: Its size in bytes; nil means the kernel's default.
  package init(protocol number: Int32, groups: UInt32, receiveBuffer: Int32? = nil) throws(Failure) {
    let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), number)
    guard descriptor >= 0 else { throw Failure(code: errno, call: "socket") }
    if var size = receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size)) }
    var address = NetlinkAddress(groups: groups)
    let bound = address.withSocketAddress { pointer, length in bind(descriptor, pointer, length) }
    guard bound == 0 else {
      let code = errno
      close(descriptor)
      throw Failure(code: code, call: "bind")
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Sends a request to the kernel; returns `errno` on failure.
  package func send(_ bytes: [UInt8]) -> Int32? {
    var address = NetlinkAddress(groups: 0)
    let sent = address.withSocketAddress { pointer, length in sendto(descriptor, bytes, bytes.count, 0, pointer, length) }
    return sent == bytes.count ? nil : errno
  }

  /// Receives a datagram. Drops datagrams of senders other than the kernel.
  func receive() -> Received {
    while true {
      var address = NetlinkAddress(groups: 0)
      let count = address.withSocketAddress { pointer, length in
        var length = length
        // With MSG_TRUNC, the full length of the datagram is returned, even if it exceeds the buffer.
        return recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_TRUNC), pointer, &length)
      }
      if count >= 0 {
        guard address.port == 0 else { continue }
        return count > buffer.count ? .lost : .datagram(Array(buffer.prefix(count)))
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .nothing
      case ENOBUFS: return .lost
      default: return .failed(errno)
      }
    }
  }

  /// Returns false if no data arrived in time.
  func wait(milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }
}

/// A `struct sockaddr_nl`, which Swift's Glibc does not have.
struct NetlinkAddress {
  private var family = UInt16(AF_NETLINK)
  private var padding: UInt16 = 0
  /// The sender's port; 0 for the kernel.
  private(set) var port: UInt32 = 0
  private var groups: UInt32

  init(groups: UInt32) { self.groups = groups }

  /// Calls `body` with the address as socket calls take it, and its length of 12 bytes.
  mutating func withSocketAddress<Value>(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafeMutableBytes(of: &self) { bytes in
      // Only the given length of the 16-byte sockaddr is used.
      var whole = sockaddr()
      withUnsafeMutableBytes(of: &whole) { $0.copyBytes(from: bytes) }
      defer { withUnsafeBytes(of: &whole) { bytes.copyBytes(from: $0.prefix(bytes.count)) } }
      return body(&whole, socklen_t(bytes.count))
    }
  }
}
