import Foundation

/// A directory of its own, removed with this value's owner.
final class Folder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "taskhost-conditions-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file, its directories with it, replacing it whole.
  func write(_ text: String, to file: String) throws {
    let url = URL(filePath: "\(path)/\(file)")
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url, options: .atomic)
  }

  /// Writes the files of a power supply as the kernel has them.
  func supply(_ name: String, _ facts: KeyValuePairs<String, String>) throws {
    for (file, text) in facts { try write(text + "\n", to: "\(name)/\(file)") }
  }

  func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(file)") }
}
