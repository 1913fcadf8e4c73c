import HostThreads

/// The path of the control socket, and who may use it.
public struct ControlSocket: Sendable, Hashable {
  /// Longest path of a Unix socket in bytes (`sockaddr_un` holds 108, with the final 0).
  public static let maximumPathBytes = 107

  /// Its path.
  public var path: String
  /// Its permission bits.
  public var mode: UInt32
  /// Its group; nil or empty for the process's own.
  public var group: String?

  /// Creates a description; the default mode admits only the owner.
  public init(path: String, mode: UInt32 = 0o600, group: String? = nil) {
    self.path = path
    self.mode = mode
    self.group = group.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Throws if its group does not exist.
  public func checkGroup() throws(ControlSocketError) {
    if let group { _ = try PrivateSocketDirectory.groupID(group, for: self) }
  }

  /// Throws if its path is too long. Looks at no file.
  public func checkPath() throws(ControlSocketError) {
    guard path.utf8.count <= Self.maximumPathBytes else {
      throw ControlSocketError(path: path, problem: .pathTooLong(path.utf8.count))
    }
  }

  /// Throws what would prevent a host from offering the socket: a path too long, a live host, a file that is not a socket.
  public func check() throws(ControlSocketError) {
    try checkPath()
    switch SocketFile.state(of: path) {
    case .absent, .stale: break
    case .live: throw ControlSocketError(path: path, problem: .inUse)
    case .other: throw ControlSocketError(path: path, problem: .notASocket)
    case .unknown(let reason): throw ControlSocketError(path: path, problem: .system(doing: "look at", reason))
    }
  }
}
