import Foundation
import Testing

/// A turn of the scheduler stands in one file, so that what forecasts foresee and proofs prove is what the host does.
@Suite("The scheduling engine") struct EngineTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let steps = ["beginTurn", "recordBegins", "dispatch", "takeBackWhereDue", "findWatches", "committed", "undoTurn"]

  @Test("takes each step of a turn, and is the only one that does", arguments: steps)
  func onlyCaller(_ step: String) throws {
    var callers: Set<String> = []
    for folder in ["Sources", "Tests"] {
      let files = try #require(FileManager.default.enumerator(at: Self.root.appending(path: folder), includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        if text.range(of: "\\bcore\\)?[?!]?\\.\(step)\\(", options: .regularExpression) != nil { callers.insert(file.lastPathComponent) }
      }
    }
    #expect(callers == ["SchedulingEngine.swift"], "who else takes the step is to drive the engine instead")
  }
}
