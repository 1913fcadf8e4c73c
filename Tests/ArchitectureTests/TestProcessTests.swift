import Foundation
import Testing

/// All tests run in one process, many at a time: what starts and awaits children in its own way there waits for ever some day.
@Suite("Processes that tests start") struct TestProcessTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// In two parts, so that this file is not found.
  private static let forbidden = [
    "processExits" + "With": "the end of an exit test is missed when other children end at the same time",
    "= Process" + "()": "Foundation's may take the test process along, and its wait has no limit",
    "readDataToEnd" + "OfFile": "it has no limit of time",
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
