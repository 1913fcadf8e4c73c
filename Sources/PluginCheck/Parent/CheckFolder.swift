import CPluginCheck
import Glibc

/// A folder for the time of a check, with one in it for each case.
struct CheckFolder: Sendable {
  /// A case's folders, absolute paths.
  struct Places: Sendable {
    /// Both of them are in it.
    let root: String
    /// The plugin's own.
    let data: String
    /// Where its process begins.
    let working: String
  }

  private let path: String

  /// Makes it, for this user alone.
  init() throws(CheckFailure) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    path = try Self.make(in: parent)
  }

  /// Makes the folders of a case.
  func makeCase() throws(CheckFailure) -> Places {
    let root = try Self.make(in: path)
    let places = Places(root: root, data: root + "/data", working: root + "/working")
    guard mkdir(places.data, 0o700) == 0, mkdir(places.working, 0o700) == 0 else {
      throw CheckFailure("\(root) cannot be written: \(String(cString: strerror(errno)))")
    }
    return places
  }

  /// Removes what a case left.
  func remove(_ places: Places) { taskhost_check_remove_tree(places.root) }

  /// Removes everything.
  func remove() { taskhost_check_remove_tree(path) }

  private static func make(in parent: String) throws(CheckFailure) -> String {
    guard let template = strdup(parent + "/taskhost-check.XXXXXX") else { throw CheckFailure("out of memory") }
    defer { free(template) }
    guard mkdtemp(template) != nil else {
      throw CheckFailure("\(parent) cannot be written: \(String(cString: strerror(errno))): set TMPDIR to a folder that can")
    }
    return String(cString: template)
  }
}
