import Foundation
import Testing

/// A run of a plugin proceeds on the thread that its host gave it, and on threads of its own. A task on Swift's pool stands still while other
/// code keeps that pool's few threads busy: a refresh of a token did so for a minute, beside tests that blocked them.
@Suite("Swift's pool") struct PoolTests {
  private static let plugins = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Plugins")

  @Test("no plugin of ours starts a task of its own, which would run there", arguments: ["Task.detached", " Task {", " Task(priority"])
  func unstructured(_ words: String) throws {
    let files = try #require(FileManager.default.enumerator(at: Self.plugins, includingPropertiesForKeys: nil))
    var seen = 0
    for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains("/Samples/") {
      seen += 1
      #expect(try !String(contentsOf: file, encoding: .utf8).contains(words), "\(file.lastPathComponent)")
    }
    #expect(seen > 50)
  }
}
