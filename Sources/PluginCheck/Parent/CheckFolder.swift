import CPluginCheck
import Glibc
import HostThreads

/// A temporary folder for a check, with a subfolder for each case.
struct CheckFolder: Sendable {
  struct Places: Sendable {
    /// Contains the other two.
    let root: String
    /// The plugin's data directory.
    let data: String
    /// The initial working directory of the case process.
    let working: String
  }

  private let path: String

  /// Creates the folder, accessible to this user only.
  init() throws(CheckFailure) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    path = try Self.make(in: parent)
  }

  func makeCase() throws(CheckFailure) -> Places {
    let root = try Self.make(in: path)
    let places = Places(root: root, data: root + "/data", working: root + "/working")
    guard mkdir(places.data, 0o700) == 0, mkdir(places.working, 0o700) == 0 else {
      throw CheckFailure("\(root) cannot be written: \(String(cString: strerror(errno)))")
    }
    return places
  }

  /// The path of a copy of the file under the same name; the file itself if this folder is mounted noexec.
  func copy(of file: String) throws(CheckFailure) -> String {
    guard taskhost_check_may_execute(path) == 1 else { return file }
    let name = file.lastIndex(of: "/").map { String(file[file.index(after: $0)...]) } ?? file
    let copy = path + "/" + name
    let (source, target) = (open(file, O_RDONLY | O_CLOEXEC), open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o700))
    defer { for descriptor in [source, target] where descriptor >= 0 { close(descriptor) } }
    var part = [UInt8](repeating: 0, count: 1 << 20)
    while source >= 0, target >= 0 {
      let count = part.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
      if count == 0 { return copy }
      guard count > 0 else { break }
      guard (try? WholeTransfer.write(Array(part[..<count]), to: target)) != nil else { break }
    }
    throw CheckFailure("\(file) could not be copied to \(path): \(String(cString: strerror(errno))): is TMPDIR full?")
  }

  func remove(_ places: Places) { taskhost_check_remove_tree(places.root) }

  func remove() { taskhost_check_remove_tree(path) }

  /// Removes everything, including files that are created meanwhile. Once the folder is gone, no more can be created.
  func removeWhileUsed() {
    for _ in 0..<100 where access(path, F_OK) == 0 { remove() }
  }

  private static func make(in parent: String) throws(CheckFailure) -> String {
    guard let template = strdup(parent + "/taskhost-check.XXXXXX") else { throw CheckFailure("out of memory") }
    defer { free(template) }
    guard mkdtemp(template) != nil else {
      throw CheckFailure("\(parent) cannot be written: \(String(cString: strerror(errno))): set TMPDIR to a writable folder")
    }
    return String(cString: template)
  }
}
