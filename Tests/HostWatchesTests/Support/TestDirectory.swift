import TestSupport
import Foundation

/// A directory of its own, removed with the reference.
final class TestDirectory: Sendable {
  let path: String

  init() throws {
    let directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: "taskhost-watches-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    path = directory.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  func make(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
  }

  /// Opens it, writes to it, closes it.
  func write(_ name: String, _ text: String = "x") throws {
    let file = open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw TestFailure("\(self(name)): \(String(cString: strerror(errno)))") }
    let bytes = Array(text.utf8)
    _ = Glibc.write(file, bytes, bytes.count)
    close(file)
  }

  func move(_ name: String, _ other: String) throws {
    guard rename(self(name), self(other)) == 0 else { throw TestFailure("\(name) to \(other): \(String(cString: strerror(errno)))") }
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self(name)) }

  /// A symbolic link; a destination without a slash in front is as it is.
  func link(_ name: String, to destination: String) throws {
    guard symlink(destination, self(name)) == 0 else { throw TestFailure("\(name): \(String(cString: strerror(errno)))") }
  }
}
