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
    guard access(archive, R_OK) == 0 else { throw CommandFailure(.failed, archive, "cannot be read: \(ErrorNumber.last)") }
    var kind = stat()
    guard stat(archive, &kind) == 0, kind.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.failed, archive, "is not a file", remedy: "name an archive that tar has written")
    }
    let folder = try temporaryFolder()
    defer { remove(folder) }
    try extract(archive, into: folder)
    let names = ((try? DirectoryNames.list(at: folder)) ?? []).filter(PluginDirectoryScan.lists)
    guard let name = names.first, names.count == 1 else {
      let observed = names.isEmpty ? "holds no plugin" : "holds several plugins: \(names.joined(separator: ", "))"
      throw CommandFailure(.failed, archive, observed, remedy: "pack one NAME.so with its NAME.so.sig, or one NAME.task.toml")
    }
    for part in [name, PluginSigning.signatureFile(of: name)] {
      var info = stat()
      guard lstat("\(folder)/\(part)", &info) == 0, info.st_mode & S_IFMT != S_IFREG else { continue }
      throw CommandFailure(.failed, archive, "\(part) in it is a link or a device", remedy: "pack the file itself")
    }
    guard let content = try PluginInstallation.Content.read("\(folder)/\(name)") else {
      throw CommandFailure(.failed, archive, "\(name) in it cannot be read")
    }
    return (name, content)
  }

  /// All members come into one folder, whatever theirs was. No file may be larger than a plugin.
  private static func extract(_ archive: String, into folder: String) throws {
    let options = #"--transform 's,.*/\(.\),\1,' --no-same-owner --no-same-permissions --warning=none"#
    let script = #"ulimit -f 1048576; exec tar --extract --file "$1" --directory "$2" "# + options
    let path = archive.hasPrefix("/") ? archive : "./\(archive)"
    let end: Int32
    do throws(SystemFailure) {
      let descriptors = ChildDescriptors()
      let input = try descriptors.high(descriptors.own(open("/dev/null", O_RDWR | O_CLOEXEC)), "/dev/null")
      let errors = try descriptors.high(descriptors.own(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)), "standard error")
      let child = try ChildProgram(
        "/bin/sh", arguments: ["sh", "-c", script, "sh", path, folder],
        environment: ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
      )
      .start([(input, STDIN_FILENO), (input, STDOUT_FILENO), (errors, STDERR_FILENO)])
      defer { close(child.descriptor) }
      var status: Int32 = 0
      while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
      end = status
    } catch { throw CommandFailure(.failed, archive, "cannot be unpacked: \(error.what): \(error.reason)") }
    guard end == 0 else { throw CommandFailure(.failed, archive, "cannot be unpacked", remedy: "tar says above what is wrong with it") }
  }

  private static func temporaryFolder() throws -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/taskhost-plugin-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CommandFailure(.failed, base, "a folder cannot be made there: \(ErrorNumber.last)") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the folder with what a stranger's archive has put there. Links are removed, never followed.
  private static func remove(_ folder: String) {
    for name in (try? DirectoryNames.list(at: folder)) ?? [] {
      let path = "\(folder)/\(name)"
      if unlink(path) != 0, errno == EISDIR || errno == EPERM { remove(path) }
    }
    rmdir(folder)
  }
}
