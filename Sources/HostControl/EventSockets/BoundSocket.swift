import Glibc
import HostThreads
import Synchronization

/// A bound, non-blocking datagram socket, and its file if it has one. Closed with the last reference.
///
/// Not an NIO socket: NIO's datagram channels close at the first datagram from a sender without an address, and programs that only send to
/// a Unix socket have none.
final class BoundSocket: Sendable {
  /// The number stays the same even if another socket takes its place.
  let descriptor: Int32
  private let description: EventSocket
  private let file: Mutex<OfferedSocket?>

  /// Receive buffer requested of the kernel, in bytes; it grants at most `net.core.rmem_max`.
  private static let kernelBytes: Int32 = 1 << 20
  /// `SO_MEMINFO` in asm-generic/socket.h and linux/sock_diag.h: nine numbers; the last counts datagrams dropped for lack of room.
  private static let memoryOption: Int32 = 55

  /// Binds it, replacing a Unix socket that no process owns any more.
  init(_ socket: EventSocket) throws(EventSocketError) {
    description = socket
    do throws(EventSocketError.Problem) {
      switch socket.address {
      case .unix(let path):
        let (descriptor, file) = try Self.open(path)
        self.descriptor = descriptor
        self.file = Mutex(file)
      case .udp(let host, let port):
        descriptor = try Self.open(host, port)
        file = Mutex(nil)
      }
    } catch { throw EventSocketError(socket: socket, problem: error) }
    Self.enlarge(descriptor)
  }

  private static func enlarge(_ descriptor: Int32) {
    var bytes = kernelBytes
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  /// Removes its file, so that no new sender can find it.
  func unpublish() { file.withLock { $0 }?.withdraw() }

  /// Restores its file if it is gone. Returns whether a new socket is needed. Waits while ``renew()`` replaces the socket.
  func look(_ renewal: SocketRenewal) -> Bool { file.withLock { $0.map(renewal.look) ?? false } }

  /// Binds a new socket in its place if it is lost. Unread datagrams are lost with the old one.
  ///
  /// - Returns: Whether it was lost.
  func renew() throws(EventSocketError) -> Bool {
    guard case .unix(let path) = description.address else { return false }
    do throws(EventSocketError.Problem) {
      return try file.withLock { file throws(EventSocketError.Problem) in
        guard let before = file, before.isLost else { return false }
        let (fresh, offer) = try Self.open(path)
        defer { close(fresh) }
        Self.enlarge(fresh)
        guard dup2(fresh, descriptor) >= 0 else {
          let reason = "\(ErrorNumber.last)"
          offer.withdraw()
          throw EventSocketError.Problem.system(reason)
        }
        // No worker inherits it in between: workers start without any of the host's descriptors.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        before.withdraw()
        file = offer
        return true
      }
    } catch { throw EventSocketError(socket: description, problem: error) }
  }

  // MARK: Unix

  private static func open(_ path: ControlSocket) throws(EventSocketError.Problem) -> (Int32, OfferedSocket) {
    let folder = path.path.lastIndex(of: "/").map { String(path.path[..<$0]) } ?? ""
    guard folder.isEmpty || access(folder, F_OK) == 0 || errno != ENOENT else { throw .noDirectory(folder) }
    do throws(ControlSocketError) {
      try path.check()
      let directory = try PrivateSocketDirectory(for: path)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: directory.bindPath.utf8) }
      guard let descriptor = bound(AF_UNIX, address) else {
        throw ControlSocketError(path: path.path, problem: .system(doing: "bind", "\(ErrorNumber.last)"))
      }
      let file = OfferedSocket(directory)
      guard file.publish() else {
        close(descriptor)
        throw file.problem ?? ControlSocketError(path: path.path, problem: .system(doing: "move", "it failed"))
      }
      return (descriptor, file)
    } catch { throw .path(error.problem) }
  }

  // MARK: UDP

  private static func open(_ host: String, _ port: Int) throws(EventSocketError.Problem) -> Int32 {
    let number = in_port_t(truncatingIfNeeded: port).bigEndian
    var (four, six) = (sockaddr_in(), sockaddr_in6())
    let descriptor: Int32?
    if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
      (four.sin_family, four.sin_port) = (sa_family_t(AF_INET), number)
      descriptor = bound(AF_INET, four)
    } else if inet_pton(AF_INET6, host, &six.sin6_addr) == 1 {
      (six.sin6_family, six.sin6_port) = (sa_family_t(AF_INET6), number)
      descriptor = bound(AF_INET6, six)
    } else {
      throw .notLocal
    }
    if let descriptor { return descriptor }
    switch errno {
    case EADDRINUSE: throw .portInUse
    case EADDRNOTAVAIL: throw .notLocal
    case EACCES, EPERM: throw .notPermitted
    default: throw .system("\(ErrorNumber.last)")
    }
  }

  /// nil with `errno` on failure.
  private static func bound<Address>(_ family: Int32, _ address: Address) -> Int32? {
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var yes: Int32 = 1
    // Otherwise [::] would take the IPv4 port too.
    if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size)) }
    let isBound = withUnsafeBytes(of: address) { bytes in
      bytes.baseAddress.map { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) } == 0
    }
    if isBound { return descriptor }
    let code = errno
    close(descriptor)
    errno = code
    return nil
  }

  /// nil for a Unix socket.
  var port: Int? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isKnown = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.baseAddress.map { getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) } == 0
    }
    // The port is at the same place in IPv4 and IPv6 addresses.
    guard isKnown, [AF_INET, AF_INET6].contains(Int32(address.sin6_family)) else { return nil }
    return Int(in_port_t(bigEndian: address.sin6_port))
  }

  /// Datagrams dropped for lack of room in the kernel. Senders to a Unix socket wait instead.
  var kernelDrops: UInt64 {
    guard file.withLock({ $0 == nil }) else { return 0 }
    var numbers = [UInt32](repeating: 0, count: 9)
    var length = socklen_t(numbers.count * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, Self.memoryOption, &numbers, &length) == 0 else { return 0 }
    return UInt64(numbers[8])
  }
}
