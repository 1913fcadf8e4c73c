import Foundation

/// A folder for one test, removed with it: `own` is the plugin's data directory, `other` is nobody's business.
final class Playground: Sendable {
  let path: String

  init() throws {
    path = URL(filePath: NSTemporaryDirectory()).resolvingSymlinksInPath().path + "/taskhost-sandbox-\(UUID().uuidString)"
    for folder in ["own", "own/sub", "other"] {
      try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
      try Data("text".utf8).write(to: URL(filePath: "\(path)/\(folder)/file"))
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of something in it.
  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a file with a line in it.
  func make(_ name: String) throws -> String {
    try Data("text".utf8).write(to: URL(filePath: self(name)))
    return self(name)
  }
}
