import Glibc
import HostThreads

/// What hosts that were killed have left beside a socket: directories as those of ``PrivateSocketDirectory``.
///
/// One is removed only if it is certain whose it was and that nobody uses it: it has the name and the mode of such a directory, it is this
/// user's, nobody has it locked, nothing but sockets of those names is in it, and nobody answers on them. An empty one is left: it may be
/// another host's that launches now.
enum LeftSocketDirectories {
  /// Directories that are looked at, at most; the next launch has its own.
  private static let most = 256
  private static let prefix = ".taskhost-"
  private static let suffixCount = 6

  /// Removes those in `parent`. Whatever fails is left as it is.
  ///
  /// - Parameter names: What sockets in such a directory are called, the one that is always there first.
  static func remove(in parent: String, names: [String]) {
    let found = (try? DirectoryNames.list(at: parent)) ?? []
    for name in found.filter(isPrivate).prefix(most) { remove(parent + "/" + name, names) }
  }

  private static func isPrivate(_ name: String) -> Bool {
    name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + suffixCount
  }

  private static func remove(_ path: String, _ names: [String]) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o7777 == 0o700,
      flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    let place = "/proc/self/fd/\(descriptor)"
    let found = ((try? DirectoryNames.list(in: descriptor)) ?? []).map { String(decoding: $0, as: UTF8.self) }
    guard let first = names.first, found.contains(first), found.allSatisfy(names.contains) else { return }
    // Versions before this one lock nothing.
    guard found.allSatisfy({ SocketFile.state(of: "\(place)/\($0)") == .stale }) else { return }
    for name in found { unlinkat(descriptor, name, 0) }
    rmdir(path)
  }
}
