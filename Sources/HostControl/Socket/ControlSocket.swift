/// Where the control socket is, and who may use it.
public struct ControlSocket: Sendable, Hashable {
  /// Bytes of a Unix socket's path (108 in `sockaddr_un`, one for the final 0).
  public static let maximumPathBytes = 107

  /// Its path.
  public var path: String
  /// Its permission bits.
  public var mode: UInt32
  /// The group that owns it; nil or empty: the process's.
  public var group: String?

  /// A socket at `path`, for its owner alone unless `mode` says more.
  public init(path: String, mode: UInt32 = 0o600, group: String? = nil) {
    self.path = path
    self.mode = mode
    self.group = group.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Throws what would keep a host from offering it: a path that is too long, a live host, a file that is no socket.
  public func check() throws(ControlSocketError) {
    guard path.utf8.count <= Self.maximumPathBytes else {
      throw ControlSocketError(path: path, problem: .pathTooLong(path.utf8.count))
    }
    switch SocketFile.state(of: path) {
    case .absent, .stale: break
    case .live: throw ControlSocketError(path: path, problem: .inUse)
    case .other: throw ControlSocketError(path: path, problem: .notASocket)
    case .unknown(let reason): throw ControlSocketError(path: path, problem: .system(doing: "look at", reason))
    }
  }
}
