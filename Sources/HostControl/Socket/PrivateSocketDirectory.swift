import Glibc

/// A directory beside the control socket, mode 0700, in which the socket is made: nobody can connect before its mode is set.
///
/// NIO binds and listens in one go, and the process's umask is no tool in a process with threads. So the socket is bound in here,
/// given its mode and owner, and then moved to its path, which also replaces a stale one in one step.
final class PrivateSocketDirectory: Sendable {
  private let socket: ControlSocket
  private let path: String
  private let descriptor: Int32

  /// Makes the directory beside `socket`'s path.
  init(for socket: ControlSocket) throws(ControlSocketError) {
    self.socket = socket
    let parent = socket.path.lastIndex(of: "/").map { String(socket.path[...$0]) } ?? "./"
    var template = Array("\(parent).taskhost-XXXXXX".utf8CString)
    guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
      throw Self.failure(socket, "make")
    }
    path = template.withUnsafeBufferPointer { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let error = Self.failure(socket, "make")
      rmdir(path)
      throw error
    }
  }

  deinit {
    unlinkat(descriptor, "s", 0)
    close(descriptor)
    rmdir(path)
  }

  private static func failure(_ socket: ControlSocket, _ doing: String) -> ControlSocketError {
    ControlSocketError(path: socket.path, problem: .system(doing: doing, SocketFile.lastError()))
  }

  /// Where to bind: short whatever the directory's own path is.
  var bindPath: String { "/proc/self/fd/\(descriptor)/s" }

  /// Gives the bound socket its mode and owner and moves it to its path.
  ///
  /// - Returns: What is needed to remove it later.
  func publish() throws(ControlSocketError) -> PublishedSocket {
    // The socket in a directory that only this process knows: following links is no danger, and fchmodat knows no other way.
    guard fchmodat(descriptor, "s", mode_t(socket.mode), 0) == 0 else { throw Self.failure(socket, "set the mode of") }
    if let group = socket.group {
      guard fchownat(descriptor, "s", uid_t.max, try Self.groupID(group, for: socket), AT_SYMLINK_NOFOLLOW) == 0 else {
        throw Self.failure(socket, "set the group of")
      }
    }
    var info = stat()
    guard fstatat(descriptor, "s", &info, AT_SYMLINK_NOFOLLOW) == 0, renameat(descriptor, "s", AT_FDCWD, socket.path) == 0 else {
      throw Self.failure(socket, "move")
    }
    return PublishedSocket(path: socket.path, device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
  }

  private static func groupID(_ name: String, for socket: ControlSocket) throws(ControlSocketError) -> gid_t {
    if let number = gid_t(name) { return number }
    var buffer = [CChar](repeating: 0, count: 65_536)
    var entry = group()
    var found: UnsafeMutablePointer<group>?
    guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
      throw ControlSocketError(path: socket.path, problem: .noSuchGroup(name))
    }
    return entry.gr_gid
  }
}
