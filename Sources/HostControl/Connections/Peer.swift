import Glibc
import NIOCore

/// The user at the other end of a Unix socket connection, as the kernel recorded it when the connection was made.
struct Peer: Sendable {
  /// The kernel's `struct ucred`, declared here because NIO's generic function cannot take a C type of another module.
  private struct Credentials {
    var process: Int32 = 0
    var user: UInt32 = .max
    var group: UInt32 = .max
  }

  /// `SO_PEERCRED` in asm-generic/socket.h.
  private static let option = NIOBSDSocket.Option(rawValue: 17)

  let user: UInt32
  /// The id of the process that made the connection; 0 if it has none here.
  let process: Int32
  /// Whether the user is root or the host's own user.
  let isOwn: Bool

  /// Call it on the event loop of an accepted `channel`. nil if the connection is gone or not a Unix socket's.
  init?(_ channel: any Channel) {
    guard let provider = channel as? any SocketOptionProvider else { return nil }
    let answer: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(level: .socket, name: Self.option)
    var found: Credentials?
    // On the event loop the answer is available at once.
    answer.assumeIsolated().whenSuccess { found = $0 }
    guard let found else { return nil }
    (user, process) = (found.user, found.process)
    isOwn = found.user == 0 || found.user == geteuid()
  }
}
