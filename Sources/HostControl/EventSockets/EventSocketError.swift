/// Why an event socket cannot be opened.
public struct EventSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Error, Sendable, Hashable {
    /// The directory for the socket does not exist.
    case noDirectory(String)
    /// The path of a Unix socket cannot be used.
    case path(ControlSocketError.Problem)
    /// Another process uses the port.
    case portInUse
    /// The address does not belong to this machine.
    case notLocal
    /// Ports below 1024 need a privilege that the process lacks.
    case notPermitted
    /// Something else, in the system's words.
    case system(String)
  }

  /// The socket.
  public let socket: EventSocket
  /// What is wrong.
  public let problem: Problem

  /// What happened and what to do.
  public var description: String {
    let key = "events.\(socket.event).listen"
    return "the event socket \(socket) (\(key)): \(reason(key))"
  }

  private func reason(_ key: String) -> String {
    switch problem {
    case .noDirectory(let path): "there is no directory \(path): make it, or choose another path"
    case .path(.pathTooLong(let count)): "its path has \(count) bytes, a Unix socket's address holds 107: choose a shorter one"
    case .path(.inUse): "another process has it, perhaps another host: end that one, or choose another path"
    case .path(.notASocket): "what is there is not a socket: move it away, or choose another path"
    case .path(.replaced): "something else has taken its place: move it away, and the socket comes back"
    case .path(.noSuchGroup(let name)): "there is no group \"\(name)\": create it, or change events.\(socket.event).group"
    case .path(.boundElsewhere(let path)): "it is bound to \(path): correct that"
    case .path(.passed(let doing, let reason)): "cannot \(doing) it: \(reason): correct that"
    case .path(.system(let doing, let reason)): "cannot \(doing) it: \(reason): check the directory's owner and mode"
    case .portInUse: "another process has the port, perhaps another host (ss -ulpn shows it): end that one, or choose another port"
    case .notLocal: "this machine does not have the address: use one that `ip address` shows, 127.0.0.1 or ::1"
    case .notPermitted: "it may not be opened by this user: use a port from 1024 on"
    case .system(let reason): "cannot be opened: \(reason)"
    }
  }
}
