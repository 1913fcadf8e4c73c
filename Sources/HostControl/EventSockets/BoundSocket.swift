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
      let descriptor: Int32
      do throws(ErrorNumber) { descriptor = try DatagramSocket.bound(AF_UNIX, address) } catch {
        throw ControlSocketError(path: path.path, problem: .system(doing: "bind", "\(error)"))
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
    let descriptor: Int32?
    do throws(ErrorNumber) { descriptor = try DatagramSocket.bound(to: host, port: port) } catch {
      switch error.code {
      case EADDRINUSE: throw .portInUse
      case EADDRNOTAVAIL: throw .notLocal
      case EACCES, EPERM: throw .notPermitted
      default: throw .system("\(error)")
      }
    }
    guard let descriptor else { throw .notLocal }
    return descriptor
  }

  /// nil for a Unix socket.
  var port: Int? { DatagramSocket.port(of: descriptor) }

  /// Datagrams dropped for lack of room in the kernel. Senders to a Unix socket wait instead.
  var kernelDrops: UInt64 {
    guard file.withLock({ $0 == nil }) else { return 0 }
    var numbers = [UInt32](repeating: 0, count: 9)
    var length = socklen_t(numbers.count * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, Self.memoryOption, &numbers, &length) == 0 else { return 0 }
    return UInt64(numbers[8])
  }
}
