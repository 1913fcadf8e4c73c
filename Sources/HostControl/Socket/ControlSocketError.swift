/// Why the control socket cannot be offered.
public struct ControlSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Sendable, Hashable {
    /// The path has that many bytes; 107 fit into an address.
    case pathTooLong(Int)
    /// Another process answers there.
    case inUse
    /// The path holds a file that is not a socket.
    case notASocket
    /// The host's socket was removed, and something else is in its place.
    case replaced
    /// There is no group with that name.
    case noSuchGroup(String)
    /// A system call failed: what was tried, and the system's words.
    case system(doing: String, String)
  }

  /// The socket's path.
  public let path: String
  /// What is wrong.
  public let problem: Problem

  /// What was seen and what to do.
  public var description: String {
    switch problem {
    case .pathTooLong(let count):
      "the socket path \(path) has \(count) bytes, a Unix socket's address holds 107: choose a shorter one (control.socket)"
    case .inUse: "another host answers on \(path): stop it (taskhost shutdown --socket \(path)), or choose another control.socket"
    case .notASocket: "\(path) exists and is no socket: move it away, or choose another control.socket"
    case .replaced: "something else has taken the place of the host's socket \(path): move it away, and the socket comes back"
    case .noSuchGroup(let name): "there is no group \"\(name)\" for the socket \(path): create it, or change control.group"
    case .system(let doing, let reason): "cannot \(doing) the socket \(path): \(reason): check the directory's owner and mode"
    }
  }
}
