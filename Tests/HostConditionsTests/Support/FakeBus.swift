import TestSupport
import Glibc
import HostThreads

@testable import HostConditions

/// A socket that is no good bus: it takes one connection and sends what it is told to, whatever it is asked.
final class FakeBus: Sendable {
  let folder: Folder
  let socket: String

  /// - Parameter sent: What is sent at once, before anything is read; the connection is closed behind it if `closes`.
  init(sending sent: [UInt8], closes: Bool = false) throws {
    folder = try Folder()
    socket = "\(folder.path)/bus"
    let listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(socket.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    guard bound == 0, listen(listener, 1) == 0 else { throw TestFailure("no socket at \(socket): \(errno)") }
    try HostThread.start("fake-bus") {
      let connection = accept(listener, nil, nil)
      _ = send(connection, sent, sent.count, Int32(MSG_NOSIGNAL))
      var buffer = [UInt8](repeating: 0, count: 4096)
      // Reads to the end, so that what was sent is not thrown away by a reset.
      if closes { shutdown(connection, Int32(SHUT_WR)) }
      while recv(connection, &buffer, buffer.count, 0) > 0 {}
      close(connection)
      close(listener)
    }
  }
}
