import Foundation
import Testing

/// A turn of the scheduler stands in one file, so that what forecasts foresee and proofs prove is what the host does.
@Suite("The scheduling engine") struct EngineTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let engine = "Sources/TaskScheduler/SchedulingEngine.swift"
  private static let step = "\\bcore\\)?[?!]?\\.(beginTurn|recordBegins|dispatch|takeBackWhereDue|findWatches|committed|undoTurn)\\("

  @Test("is the only caller of the steps of a turn", arguments: ["Sources", "Tests"])
  func onlyCaller(_ folder: String) throws {
    let files = try #require(FileManager.default.enumerator(at: Self.root.appending(path: folder), includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      let name = String(file.path().dropFirst(Self.root.path().count).drop { $0 == "/" })
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() where line.range(of: Self.step, options: .regularExpression) != nil {
        #expect(name == Self.engine, "\(name):\(number + 1) takes a step of a turn: drive SchedulingEngine instead")
      }
    }
  }

  @Test("takes each step")
  func takesEach() throws {
    let text = try String(contentsOf: Self.root.appending(path: Self.engine), encoding: .utf8)
    for step in ["beginTurn", "recordBegins", "dispatch", "takeBackWhereDue", "findWatches", "committed", "undoTurn"] {
      #expect(text.contains("core.\(step)("))
    }
  }
}
