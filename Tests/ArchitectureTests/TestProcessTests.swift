import Foundation
import Testing

/// All tests run concurrently in one process. Code there that waits for children in its own way can wait forever.
@Suite("Processes that tests start") struct TestProcessTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// Split in two, so that the search does not match this file.
  private static let forbidden = [
    "processExits" + "With": "an exit test misses its child's end when other children end at the same time",
    "= Process" + "()": "Foundation's process can end the test process, and its wait has no timeout",
    "readDataToEnd" + "OfFile": "it has no timeout",
  ]

  @Test("they are started and awaited by TestSupport", arguments: forbidden.keys.sorted())
  func started(_ words: String) throws {
    let files = try #require(FileManager.default.enumerator(at: Self.tests, includingPropertiesForKeys: nil))
    var seen = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      seen += 1
      #expect(
        try !String(contentsOf: file, encoding: .utf8).contains(words),
        "\(file.lastPathComponent) has \(words): \(Self.forbidden[words] ?? "")")
    }
    #expect(seen > 100)
  }
}
