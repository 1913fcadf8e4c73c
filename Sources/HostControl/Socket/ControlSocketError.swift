/// Why the control socket cannot be offered.
public struct ControlSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Sendable, Hashable {
    /// The path is longer than 107 bytes; its length.
    case pathTooLong(Int)
    /// Another process answers on the socket.
    case inUse
    /// The path holds something other than a socket.
    case notASocket
    /// The host's socket was removed, and something else took its place.
    case replaced
    /// The group does not exist.
    case noSuchGroup(String)
    /// The socket that the service manager passes is bound to another path.
    case boundElsewhere(String)
    /// The socket that the service manager passes cannot be prepared: the attempted action, and the system's message.
    case passed(doing: String, String)
    /// A system call failed: the attempted action, and the system's message.
    case system(doing: String, String)
  }

  /// The socket's path.
  public let path: String
  /// What is wrong.
  public let problem: Problem

  /// What happened and what to do.
  public var description: String {
    switch problem {
    case .pathTooLong(let count):
      "the socket path \(path) has \(count) bytes, a Unix socket's address holds 107: choose a shorter one (control.socket)"
    case .inUse: "another host answers on \(path): stop it (taskhost shutdown --socket \(path)), or choose another control.socket"
    case .notASocket: "\(path) exists and is not a socket: move it away, or choose another control.socket"
    case .replaced: "something else has taken the place of the host's socket \(path): move it away, and the socket comes back"
    case .noSuchGroup(let name): "there is no group \"\(name)\" for the socket \(path): create it, or change control.group"
    case .boundElsewhere(let bound):
      "the service manager listens at \(bound), and clients look for \(path): make ListenStream= of its unit and control.socket the same, "
        + "and restart the unit of the socket"
    case .passed(let doing, let reason):
      "cannot \(doing) the socket \(path), which the service manager has made: \(reason): set SocketUser=, SocketGroup= and SocketMode= of "
        + "its unit as control.mode and control.group say"
    case .system(let doing, let reason): "cannot \(doing) the socket \(path): \(reason): check the directory's owner and mode"
    }
  }
}
