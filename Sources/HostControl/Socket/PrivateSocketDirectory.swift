import Glibc
import HostThreads

/// A directory beside the control socket, mode 0700, in which the socket is created, so that nobody can connect before its mode is set.
///
/// NIO binds and listens in one step, and the umask of a process with threads is no help. So the socket is bound in here, gets its mode and
/// owner, and is then moved to its path, which also replaces a stale socket atomically. A second link stays in the directory, from which a
/// removed socket can be restored.
final class PrivateSocketDirectory: Sendable {
  private let socket: ControlSocket
  private let path: String
  private let descriptor: Int32
  /// The socket's names in here: the link that stays, and the link that is moved to the path.
  private static let (kept, moved) = ("s", "p")

  /// Creates the directory beside `socket`'s path, and removes those that killed hosts left there.
  init(for socket: ControlSocket) throws(ControlSocketError) {
    self.socket = socket
    let parent = socket.path.lastIndex(of: "/").map { String(socket.path[...$0]) } ?? "./"
    LeftSocketDirectories.remove(in: parent, names: [Self.kept, Self.moved])
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
    // The lock distinguishes it from a directory that a killed host left.
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
  }

  deinit {
    remove()
    close(descriptor)
  }

  /// Removes the directory and its content; the socket can no longer be restored.
  func remove() {
    for name in [Self.kept, Self.moved] { unlinkat(descriptor, name, 0) }
    rmdir(path)
  }

  private static func failure(_ socket: ControlSocket, _ doing: String) -> ControlSocketError {
    ControlSocketError(path: socket.path, problem: .system(doing: doing, "\(ErrorNumber.last)"))
  }

  /// Where to bind; short however long the directory's own path is.
  var bindPath: String { "/proc/self/fd/\(descriptor)/\(Self.kept)" }

  /// Sets the bound socket's mode and owner, and moves it to its path.
  func publish() throws(ControlSocketError) -> PublishedSocket {
    // Only this process knows the socket's directory, so following links is safe; fchmodat cannot do otherwise.
    guard fchmodat(descriptor, Self.kept, mode_t(socket.mode), 0) == 0 else { throw Self.failure(socket, "set the mode of") }
    if let group = socket.group {
      guard fchownat(descriptor, Self.kept, uid_t.max, try Self.groupID(group, for: socket), AT_SYMLINK_NOFOLLOW) == 0 else {
        throw Self.failure(socket, "set the group of")
      }
    }
    var info = stat()
    guard fstatat(descriptor, Self.kept, &info, AT_SYMLINK_NOFOLLOW) == 0 else { throw Self.failure(socket, "look at") }
    // Without hard links in the file system, the socket is at its path only and cannot be restored.
    let source = linkat(descriptor, Self.kept, descriptor, Self.moved, 0) == 0 ? Self.moved : Self.kept
    guard renameat(descriptor, source, AT_FDCWD, socket.path) == 0 else { throw Self.failure(socket, "move") }
    return PublishedSocket(path: socket.path, device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
  }

  /// Restores the socket at its path. Never replaces another file there.
  func restore() throws(ControlSocketError) {
    if linkat(descriptor, Self.kept, AT_FDCWD, socket.path, 0) == 0 { return }
    throw errno == EEXIST ? ControlSocketError(path: socket.path, problem: .replaced) : Self.failure(socket, "restore")
  }

  static func groupID(_ name: String, for socket: ControlSocket) throws(ControlSocketError) -> gid_t {
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
