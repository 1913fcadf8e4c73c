import Glibc
import HostThreads

/// ``PrivateSocketDirectory`` directories that killed hosts left beside a socket.
///
/// A directory is removed only if it is certainly abandoned: it has the right name and mode, belongs to this user, is not locked, and
/// contains only sockets with the known names on which nobody answers. An empty one stays: another host may be launching with it.
enum LeftSocketDirectories {
  /// The most directories that one launch examines.
  private static let most = 256
  private static let prefix = ".taskhost-"
  private static let suffixCount = 6

  /// Removes those in `parent`; ignores failures.
  ///
  /// - Parameter names: The names of the sockets in such a directory; the first always exists.
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
    // Earlier versions do not lock the directory.
    guard found.allSatisfy({ SocketFile.state(of: "\(place)/\($0)") == .stale }) else { return }
    for name in found { unlinkat(descriptor, name, 0) }
    rmdir(path)
  }
}
