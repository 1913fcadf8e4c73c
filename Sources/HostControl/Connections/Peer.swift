import Glibc
import NIOCore

/// Who is at the other end of a Unix socket's connection, as the kernel knows it since the connection was made.
struct Peer {
  /// `struct ucred` of the kernel. A type of this module's own: NIO's function is generic, and cannot take a C type of another module.
  private struct Credentials {
    var process: Int32 = 0
    var user: UInt32 = .max
    var group: UInt32 = .max
  }

  /// `SO_PEERCRED` of asm-generic/socket.h.
  private static let option = NIOBSDSocket.Option(rawValue: 17)

  /// Whether it is the user that the host runs as, or root.
  let isOwn: Bool

  /// Of an accepted connection, on its event loop; nil: it is none of a Unix socket, or it is gone.
  init?(_ channel: any Channel) {
    guard let provider = channel as? any SocketOptionProvider else { return nil }
    let answer: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(level: .socket, name: Self.option)
    var found: Credentials?
    // On the event loop the answer is there at once.
    answer.assumeIsolated().whenSuccess { found = $0 }
    guard let found else { return nil }
    isOwn = found.user == 0 || found.user == geteuid()
  }
}
