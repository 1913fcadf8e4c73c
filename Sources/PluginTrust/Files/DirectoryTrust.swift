import Glibc
import StrictText

/// Where a directory's path leads, and whether users other than root and the host's could change its content.
///
/// Checks every directory on the path, including those that contain a link on the path. A directory that others may write to passes only
/// as an ancestor and only with the sticky bit (like `/tmp`), where users cannot rename files that they do not own. An access control list
/// that lets others write shows in the mode as a group permission.
struct DirectoryTrust: Sendable {
  /// The maximum number of links in a path, as in Linux; with more, the path counts as a loop.
  private static let linkLimit = 40

  /// The directory's absolute path without links.
  let path: String

  /// The reason for refusing all files in the directory; nil if there is none.
  let rejection: Rejection?

  init(of directory: String, user: UInt32) throws(PluginDirectoryError) {
    func fail(_ number: Int32) -> PluginDirectoryError { PluginDirectoryError(directory: directory, number: number) }
    var pending = try Self.components(directory)
    var walked: [String] = []
    var links = 0
    var rejection: Rejection?
    var directories: [(path: String, mode: UInt32)] = []

    func look(at path: String, _ info: stat) {
      directories.append((path, info.st_mode))
      if info.st_uid != 0, info.st_uid != user, rejection == nil {
        rejection = .wrongOwner("the directory \(path)", path: path, owner: info.st_uid, user: user)
      }
    }

    var info = stat()
    guard lstat("/", &info) == 0 else { throw fail(errno) }
    look(at: "/", info)
    while let component = pending.popLast() {
      if component == ".." {
        if !walked.isEmpty { walked.removeLast() }
        continue
      }
      let path = "/" + (walked + [component]).joined(separator: "/")
      guard lstat(path, &info) == 0 else { throw fail(errno) }
      switch info.st_mode & S_IFMT {
      case S_IFLNK:
        links += 1
        guard links <= Self.linkLimit else { throw fail(ELOOP) }
        if info.st_uid != 0, info.st_uid != user, rejection == nil {
          rejection = .wrongOwner("the symbolic link \(path)", path: path, owner: info.st_uid, user: user)
        }
        guard let target = Self.target(of: path) else { throw fail(errno) }
        if target.utf8.first == UInt8(ascii: "/") { walked = [] }
        pending += try Self.components(target, absolute: true)
      case S_IFDIR:
        walked.append(component)
        look(at: path, info)
      default: throw fail(ENOTDIR)
      }
    }
    path = "/" + walked.joined(separator: "/")
    for (passed, mode) in directories where mode & 0o022 != 0 && rejection == nil {
      if mode & S_ISVTX == 0 || passed == path { rejection = .writable("the directory \(passed)", path: passed, mode: mode) }
    }
    self.rejection = rejection
  }

  /// The components of a path in reverse order, followed by those of the working directory if the path is relative.
  private static func components(_ path: String, absolute: Bool = false) throws(PluginDirectoryError) -> [String] {
    var whole = path
    if !absolute, path.utf8.first != UInt8(ascii: "/") {
      guard let current = getcwd(nil, 0) else { throw PluginDirectoryError(directory: path, number: errno) }
      defer { free(current) }
      whole = String(cString: current) + "/" + path
    }
    return whole.parts(between: "/").filter { $0 != "." }.reversed()
  }

  private static func target(of link: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(validating: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension PluginDirectoryError {
  init(directory: String, number: Int32) {
    let remedy =
      switch number {
      case ENOENT: "Create it, or correct plugin_directories."
      case ENOTDIR: "Give a directory, not a file."
      case EACCES, EPERM: "Give the host's user permission to list it."
      default: "Correct plugin_directories, or the directory."
      }
    self.init(directory: directory, observed: "cannot be listed: \(String(cString: strerror(number)))", remedy: remedy)
  }
}
