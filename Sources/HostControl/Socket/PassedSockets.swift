import Glibc
import HostThreads

/// The listening sockets that a service manager passes to the process, so that clients can connect before the host serves, and wait.
///
/// What is passed is checked like anything from outside: it must be one listening Unix socket, for this process, named `control` or not at all.
///
/// - Source: sd_listen_fds(3), systemd.socket(5)
public enum PassedSockets {
  /// The first descriptor.
  static let first: Int32 = 3
  /// The name that the socket's unit gives with `FileDescriptorName=`.
  public static let controlName = "control"
  private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

  /// Why what was passed is not used, as a clause.
  public struct Flaw: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let description: String
  }

  /// What was passed to this process, closed for programs that it starts; nil if nothing was. Removes the variables, so that nobody else takes them.
  ///
  /// Call it once, on the main thread, before other threads start.
  ///
  /// - Throws: If what was passed is not a control socket. It is then closed.
  public static func take() throws(Flaw) -> Int32? {
    let values = variables.map { name in getenv(name).map { String(cString: $0) } }
    for name in variables { unsetenv(name) }
    guard let count = try count(process: values[0], number: values[1], own: getpid()) else { return nil }
    let end = first + count
    for descriptor in first..<end {
      // One that is not open was not passed.
      guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
        throw Flaw(description: "LISTEN_FDS=\(count), but descriptor \(descriptor) is not open")
      }
    }
    do throws(Flaw) {
      try check(names: values[2], count: count)
      try check(first)
    } catch {
      for descriptor in first..<end { close(descriptor) }
      throw error
    }
    return first
  }

  /// How many sockets were passed to the process `own`; nil if none.
  static func count(process: String?, number: String?, own: pid_t) throws(Flaw) -> Int32? {
    // What was meant for another process is not ours to judge: a program that was started with sockets may leave the variables.
    guard let process, let text = number, Self.number(process) == own else { return nil }
    guard let count = Self.number(text), count <= 1024 else {
      throw Flaw(description: "LISTEN_FDS is not a number of descriptors: \(text.prefix(20).description.debugDescription)")
    }
    guard count > 0 else { return nil }
    guard count == 1 else {
      throw Flaw(description: "LISTEN_FDS=\(count): the host takes one socket, its control socket: let the unit have one ListenStream=")
    }
    return count
  }

  private static func number(_ text: String) -> Int32? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32(text) : nil
  }

  static func check(names: String?, count: Int32) throws(Flaw) {
    guard let names, !names.isEmpty else { return }
    let all = names.split(separator: ":", omittingEmptySubsequences: false)
    guard all.count == count else { throw Flaw(description: "LISTEN_FDNAMES has \(all.count) names for \(count) sockets") }
    guard let other = all.first(where: { $0 != controlName }) else { return }
    throw Flaw(
      description: "LISTEN_FDNAMES names a socket \(other.prefix(40).description.debugDescription), and the host takes one named "
        + "\(controlName): set FileDescriptorName=\(controlName)")
  }

  /// Throws unless it is a Unix socket that listens for streams.
  static func check(_ descriptor: Int32) throws(Flaw) {
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFSOCK else {
      throw Flaw(description: "descriptor \(descriptor) is not a socket")
    }
    guard option(SO_DOMAIN, descriptor) == AF_UNIX else {
      throw Flaw(description: "the socket is not a Unix socket: use ListenStream=/PATH")
    }
    guard option(SO_TYPE, descriptor) == Int32(SOCK_STREAM.rawValue) else {
      throw Flaw(description: "the socket is not one for streams: use ListenStream=")
    }
    guard option(SO_ACCEPTCONN, descriptor) == 1 else { throw Flaw(description: "the socket does not listen: use Accept=no") }
  }

  private static func option(_ name: Int32, _ descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }

  /// The path that a Unix socket is bound to; nil if it has none.
  static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
    }
    let length = Int(size) - MemoryLayout<sa_family_t>.size
    guard isKnown, length > 0 else { return nil }
    let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix(length)) }
    // An abstract name begins with a zero.
    guard bytes.first != 0 else { return nil }
    return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension ControlSocket {
  /// Prepares a socket that a service manager has made: clients must find it where the configuration says, with its mode and group.
  ///
  /// - Throws: If it is bound elsewhere, or its mode or group cannot be set.
  func adopt(_ descriptor: Int32) throws(ControlSocketError) {
    guard let bound = PassedSockets.path(of: descriptor) else { throw ControlSocketError(path: path, problem: .boundElsewhere("no path")) }
    var (there, here) = (stat(), stat())
    guard lstat(path, &here) == 0 else { throw ControlSocketError(path: path, problem: .boundElsewhere(bound)) }
    guard here.st_mode & S_IFMT == S_IFSOCK else { throw ControlSocketError(path: path, problem: .notASocket) }
    guard stat(bound, &there) == 0, there.st_dev == here.st_dev, there.st_ino == here.st_ino else {
      throw ControlSocketError(path: path, problem: .boundElsewhere(bound))
    }
    if let group {
      let wanted = try PrivateSocketDirectory.groupID(group, for: self)
      guard here.st_gid == wanted || lchown(path, uid_t.max, wanted) == 0 else { throw failure("set the group of") }
    }
    guard here.st_mode & 0o777 == mode_t(mode) || chmod(path, mode_t(mode)) == 0 else { throw failure("set the mode of") }
  }

  private func failure(_ doing: String) -> ControlSocketError {
    ControlSocketError(path: path, problem: .passed(doing: doing, "\(ErrorNumber.last)"))
  }
}
