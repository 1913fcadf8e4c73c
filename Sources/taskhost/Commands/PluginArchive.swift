import Glibc
import HostProcesses
import HostThreads
import PluginTrust
import StrictText

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

  /// All members come into one folder, whatever theirs was. No file may be larger than a plugin. tar holds the folder's lock too: it may outlive
  /// this process for as long as it unpacks.
  private static func extract(_ file: Int32, _ archive: String, into folder: TemporaryFolder) throws {
    let options = #"--transform 's,.*/\(.\),\1,' --no-same-owner --no-same-permissions --warning=none"#
    let script = #"ulimit -f 1048576; exec tar --extract --file /proc/self/fd/0 --directory "$1" "# + options
    let end: Int32
    do throws(SystemFailure) {
      let descriptors = ChildDescriptors()
      let input = try descriptors.high(descriptors.own(fcntl(file, F_DUPFD_CLOEXEC, 0)), archive)
      let output = try descriptors.high(descriptors.own(open("/dev/null", O_RDWR | O_CLOEXEC)), "/dev/null")
      let errors = try descriptors.high(descriptors.own(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)), "standard error")
      let lock = try descriptors.high(descriptors.own(fcntl(folder.lock, F_DUPFD_CLOEXEC, 0)), folder.path)
      let child = try ChildProgram(
        "/bin/sh", arguments: ["sh", "-c", script, "sh", folder.path],
        environment: ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
      )
      .start([(input, STDIN_FILENO), (output, STDOUT_FILENO), (errors, STDERR_FILENO), (lock, STDERR_FILENO + 1)])
      defer { close(child.descriptor) }
      var status: Int32 = 0
      while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
      end = status
    } catch { throw CommandFailure(.failed, archive, "cannot be unpacked: \(error.what): \(error.reason)") }
    guard end == 0 else { throw CommandFailure(.failed, archive, "cannot be unpacked", remedy: "tar says above what is wrong with it") }
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
