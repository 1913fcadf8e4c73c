import TestSupport
import Glibc

/// A directory of its own below /tmp, removed with everything in it when the test is over.
final class TestTree: Sendable {
  /// Absolute, without symlinks.
  let path: String

  /// The instant by which ages are measured in these tests, seconds since 1970.
  static let now: Int64 = 2_000_000_000

  init() throws {
    var template = Array("/tmp/taskhost-cleanup-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw TestFailure("mkdtemp: \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    _ = Command.run(["rm", "-rf", path])
  }

  /// The absolute path of something in the tree.
  func absolute(_ relative: String) -> String { relative.isEmpty ? path : "\(path)/\(relative)" }

  func directory(_ relative: String) throws {
    var partial = path
    for part in relative.split(separator: "/") {
      partial += "/\(part)"
      guard mkdir(partial, 0o755) == 0 || errno == EEXIST else { throw TestFailure("mkdir \(partial): \(errno)") }
    }
  }

  /// Makes a file of `bytes` bytes, last modified `age` seconds before ``now``, and the directories it needs.
  func file(_ relative: String, age: Int64 = 0, bytes: Int = 1) throws {
    try file(Array(relative.utf8), age: age, bytes: bytes)
  }

  func file(_ relative: [UInt8], age: Int64 = 0, bytes: Int = 1) throws {
    if let slash = relative.lastIndex(of: UInt8(ascii: "/")) {
      try directory(String(decoding: relative[..<slash], as: UTF8.self))
    }
    try Command.exclusively { () throws(TestFailure) in try makeFile(relative, age, bytes) }
  }

  private func makeFile(_ relative: [UInt8], _ age: Int64, _ bytes: Int) throws(TestFailure) {
    let absolute = (Array(path.utf8) + [UInt8(ascii: "/")] + relative + [0]).map { CChar(bitPattern: $0) }
    let descriptor = open(absolute, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw TestFailure("open \(relative): \(errno)") }
    defer { close(descriptor) }
    let content = [UInt8](repeating: 0x78, count: bytes)
    guard write(descriptor, content, bytes) == bytes else { throw TestFailure("write: \(errno)") }
    let time = timespec(tv_sec: Int(Self.now - age), tv_nsec: 0)
    guard futimens(descriptor, [time, time]) == 0 else { throw TestFailure("futimens: \(errno)") }
  }

  func symlink(_ relative: String, to target: String) throws {
    guard Glibc.symlink(target, absolute(relative)) == 0 else { throw TestFailure("symlink \(relative): \(errno)") }
  }

  func hardLink(_ relative: String, to existing: String) throws {
    guard link(absolute(existing), absolute(relative)) == 0 else { throw TestFailure("link \(relative): \(errno)") }
  }

  func move(_ from: String, to target: String) throws {
    guard rename(absolute(from), absolute(target)) == 0 else { throw TestFailure("rename \(from): \(errno)") }
  }

  /// Whether the name exists, whatever it is.
  func exists(_ relative: String) -> Bool {
    var status = stat()
    return lstat(absolute(relative), &status) == 0
  }

  /// The names in one directory, sorted, except `.` and `..`; bytes that are no UTF-8 are repaired.
  func names(_ relative: String = "") -> [String] {
    guard let stream = opendir(absolute(relative)) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
