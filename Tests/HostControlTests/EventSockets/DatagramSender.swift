import Glibc

/// Sends datagrams as other programs do.
struct DatagramSender: ~Copyable {
  private let descriptor: Int32
  private let address: sockaddr_storage
  private let length: socklen_t

  /// To a Unix socket.
  init(path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    self.init(AF_UNIX, address)
  }

  /// To a port of 127.0.0.1.
  init(port: Int) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    self.init(AF_INET, address)
  }

  /// To a port of ::1.
  init(port6 port: Int) {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(port).bigEndian
    address.sin6_addr = in6addr_loopback
    self.init(AF_INET6, address)
  }

  private init<Address>(_ family: Int32, _ specific: Address) {
    descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // A receiver that does not read must not hang a test.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { to in withUnsafeBytes(of: specific) { to.copyMemory(from: $0) } }
    address = storage
    length = socklen_t(MemoryLayout<Address>.size)
  }

  deinit { close(descriptor) }

  /// Sends one; returns 0, or the error's number.
  @discardableResult
  func send(_ bytes: some Sequence<UInt8>) -> Int32 {
    let bytes = Array(bytes)
    let count = bytes.withUnsafeBytes { bytes in
      withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, length) }
      }
    }
    return count == bytes.count ? 0 : errno
  }

  /// Sends one; returns 0, or the error's number.
  @discardableResult
  func send(_ text: String) -> Int32 { send(text.utf8) }
}
