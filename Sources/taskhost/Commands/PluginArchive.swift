import Glibc
import HostProcesses
import HostThreads
import PluginTrust
import StrictText
import TaskModel

/// A plugin in an archive that tar(1) reads: `NAME.so`, perhaps with `NAME.so.sig`, or `NAME.task.toml`, in any folder, among other files.
enum PluginArchive {
  private static let endings = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"]

  static func isOne(_ path: String) -> Bool { endings.contains(where: path.hasSuffix) }

  /// Reads the plugin, and its name.
  static func read(_ archive: String) throws -> (name: String, content: PluginInstallation.Content) {
    let file = try opened(archive)
    defer { close(file) }
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try extract(file, archive, into: folder)
    let names = ((try? DirectoryNames.list(at: folder.path)) ?? []).filter(PluginDirectoryScan.lists)
    guard let name = names.first, names.count == 1 else {
      let observed = names.isEmpty ? "holds no plugin" : "holds several plugins: \(names.joined(separator: ", "))"
      throw CommandFailure(.failed, archive, observed, remedy: "pack one NAME.so with its NAME.so.sig, or one NAME.task.toml")
    }
    for part in [name, PluginSigning.signatureFile(of: name)] {
      var info = stat()
      guard lstat("\(folder.path)/\(part)", &info) == 0, info.st_mode & S_IFMT != S_IFREG else { continue }
      throw CommandFailure(.failed, archive, "\(part) in it is a link or a device", remedy: "pack the file itself")
    }
    guard let content = try PluginInstallation.Content.read("\(folder.path)/\(name)") else {
      throw CommandFailure(.failed, archive, "\(name) in it cannot be read")
    }
    return (name, content)
  }

  /// The archive, which must be a file: whoever opens a pipe waits for somebody who writes to it.
  private static func opened(_ archive: String) throws(CommandFailure) -> Int32 {
    let descriptor = open(archive, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw CommandFailure(.failed, archive, "cannot be read: \(ErrorNumber.last)") }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw CommandFailure(.failed, archive, "is not a file", remedy: "name an archive that tar has written")
    }
    return descriptor
  }

  /// Unpacks with tar. All members come into one folder, whatever theirs was. No file may be larger than a plugin. If this process ends, a
  /// second shell kills tar and removes the folder, whose lock it holds: it reads from a pipe whose other end is here.
  private static let script = #"""
    ulimit -f 1048576
    options='--no-same-owner --no-same-permissions --warning=none'
    tar --extract --file /proc/self/fd/4 --directory "$1" --transform 's,.*/\(.\),\1,' $options 3<&- &
    tar=$!
    { read -r _ <&3; kill -9 $tar; rm -rf -- "$1"; } >/dev/null 2>&1 &
    watch=$!
    wait $tar
    end=$?
    kill -9 $watch
    exit $end
    """#

  private static func extract(_ file: Int32, _ archive: String, into folder: TemporaryFolder) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
      throw CommandFailure(.failed, archive, "cannot be unpacked: a pipe: \(ErrorNumber.last)")
    }
    defer { for end in ends { close(end) } }
    let end: HelperProgram.End
    do throws(SystemFailure) {
      end = try HelperProgram(
        words: ["sh", "-c", script, "sh", folder.path], descriptors: [(ends[0], 3), (file, 4), (folder.lock, 5)],
        path: "/usr/local/bin:/usr/bin:/bin"
      ).run()
    } catch { throw CommandFailure(.failed, archive, "cannot be unpacked: \(error.what): \(error.reason)") }
    guard end.code == 0 else {
      throw CommandFailure(
        .failed, archive, "cannot be unpacked: \(end.complaint.escapingControlCharacters)",
        remedy: "pack it again with tar, or name another file")
    }
  }

  /// A folder of this process's own for what a stranger's archive has in it. One that a killed command has left goes with a later command.
  private struct TemporaryFolder {
    private static let prefix = "taskhost-plugin-"
    /// A younger one may be about to be locked.
    private static let leastAge = 60

    let path: String
    /// A descriptor that holds a lock on the folder while it is used.
    let lock: Int32

    init() throws(CommandFailure) {
      let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
      Self.removeLeftovers(in: base)
      var template = Array("\(base)/\(Self.prefix)XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw CommandFailure(.failed, base, "a folder cannot be made there: \(ErrorNumber.last)") }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      lock = Self.locked(path)
      guard lock >= 0 else { throw CommandFailure(.failed, path, "cannot be locked: \(ErrorNumber.last)") }
    }

    func remove() {
      Self.remove(path)
      close(lock)
    }

    /// -1 with `errno` if it cannot be opened, is a link or is used.
    private static func locked(_ path: String) -> Int32 {
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { return -1 }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let code = errno
        close(descriptor)
        errno = code
        return -1
      }
      return descriptor
    }

    private static func removeLeftovers(in base: String) {
      for name in (try? DirectoryNames.list(at: base)) ?? [] where name.hasPrefix(prefix) {
        let descriptor = locked("\(base)/\(name)")
        guard descriptor >= 0 else { continue }
        var info = stat()
        if fstat(descriptor, &info) == 0, info.st_uid == geteuid(), time(nil) - info.st_mtim.tv_sec > leastAge { remove("\(base)/\(name)") }
        close(descriptor)
      }
    }

    /// Links are removed, never followed.
    private static func remove(_ folder: String) {
      for name in (try? DirectoryNames.list(at: folder)) ?? [] {
        let path = "\(folder)/\(name)"
        if unlink(path) != 0, errno == EISDIR || errno == EPERM { remove(path) }
      }
      rmdir(folder)
    }
  }
}
