import TestSupport
import Foundation
import Glibc

/// A directory that only its owner may write, removed afterwards.
final class TestDirectory: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "taskhost-\(UUID().uuidString.prefix(13))").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Makes a folder in it.
  @discardableResult
  func folder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    return self(name)
  }

  /// Writes a file that others may not write.
  @discardableResult
  func file(_ name: String, _ bytes: Data, mode: mode_t = 0o644) throws -> String {
    try bytes.write(to: URL(filePath: self(name)))
    chmod(self(name), mode)
    return self(name)
  }

  @discardableResult
  func file(_ name: String, _ text: String) throws -> String { try file(name, Data(text.utf8)) }

  /// What a file has in it; empty when there is none.
  func text(_ name: String) -> String { (try? String(contentsOfFile: self(name), encoding: .utf8)) ?? "" }

  /// Where tests and plugins meet: the plugins' sandbox lets them read and write here.
  func shared(_ name: String) throws -> String { try folder("shared") + "/" + name }

  /// Makes a FIFO that plugins reach.
  func fifo(_ name: String) throws -> Gate {
    let path = try shared(name)
    guard mkfifo(path, 0o600) == 0 else { throw TestFailure("mkfifo \(path): errno \(errno)") }
    return Gate(path: path)
  }
}
