import Foundation
import Glibc
import TaskModel
import Testing

@testable import TaskHost

@Suite("Overrides of conditions that are kept") struct ConditionOverridesTests {
  /// Gives `body` the path of a file that is not there, in a directory of its own.
  private func withFile(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "taskhost-overrides-\(UUID())").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory + "/condition-overrides")
  }

  /// Reads the file as a host does that begins.
  private func read(_ path: String) -> (overrides: [ConditionOverride], damage: [String]) {
    var damage: [String] = []
    let overrides = ConditionOverrides(path: path) { damage.append($0) }
    return (overrides.all, damage)
  }

  private static func wall(_ seconds: Int) -> WallTime { WallTime(unixMilliseconds: Int64(seconds) * 1000) }

  @Test("without a file nothing is overridden")
  func none() throws {
    try withFile { path in
      let (overrides, damage) = read(path)
      #expect(overrides.isEmpty && damage.isEmpty)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("what was set is there for the next host, with the time of the first decision; nobody else may read it")
  func kept() throws {
    try withFile { path in
      let mine = ConditionOverrides(path: path) { _ in }
      var applied: [ConditionOverride] = []
      try mine.set([(.idle, true), (.network, false)], at: Self.wall(1)) { applied = $0 }
      #expect(applied.map(\.condition) == [.network, .idle])
      try mine.set([([.network, .power], false)], at: Self.wall(2)) { applied = $0 }
      let expected = [
        ConditionOverride(condition: .network, holds: false, since: Self.wall(1)),
        ConditionOverride(condition: .power, holds: false, since: Self.wall(2)),
        ConditionOverride(condition: .idle, holds: true, since: Self.wall(1)),
      ]
      #expect(mine.all == expected && applied == expected && read(path).overrides == expected)
      try mine.set([(.network, true)], at: Self.wall(3))
      #expect(read(path).overrides.first == ConditionOverride(condition: .network, holds: true, since: Self.wall(3)))
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
      let folder = (path as NSString).deletingLastPathComponent
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["condition-overrides"])
    }
  }

  @Test("what was cleared is gone for the next host; with the last one the file goes")
  func cleared() throws {
    try withFile { path in
      let mine = ConditionOverrides(path: path) { _ in }
      try mine.set([(.all, false)], at: Self.wall(1))
      try mine.clear(.network)
      #expect(read(path).overrides.map(\.condition) == [.unmetered, .power, .idle, .batteryNotLow, .storageNotLow])
      try mine.clear(.all)
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(mine.all.isEmpty)
      try mine.clear(.all)
    }
  }

  @Test(
    "a file that is not what was written overrides nothing, and is told of",
    arguments: [
      "", "\n", "taskhost condition overrides 2\n", "taskhost condition overrides 1", "taskhost condition overrides 1\nnetwork none",
      "taskhost condition overrides 1\nnetwork none 1", "taskhost condition overrides 1\nweather none 1\n",
      "taskhost condition overrides 1\nnetwork maybe 1\n", "taskhost condition overrides 1\nnetwork none soon\n",
      "taskhost condition overrides 1\nnetwork none 1\nnetwork held 1\n", "taskhost condition overrides 1\n\n",
      "taskhost condition overrides 1\nnetwork none 1 2\n", "\u{0}\u{0}\u{0}", String(repeating: "x", count: 5000),
    ])
  func damaged(_ text: String) throws {
    try withFile { path in
      try Data(text.utf8).write(to: URL(filePath: path))
      let (overrides, damage) = read(path)
      #expect(overrides.isEmpty)
      #expect(damage.count == 1 && damage.first?.contains(path) == true, "\(damage)")
      #expect(damage.first?.contains("taskhost conditions set") == true, "\(damage)")
      let mine = ConditionOverrides(path: path) { _ in }
      try mine.set([(.idle, true)], at: Self.wall(1))
      #expect(read(path).overrides.count == 1)
    }
  }

  @Test("one that cannot be read is told of")
  func unreadable() throws {
    try withFile { path in
      symlink("/etc/passwd", path)
      let (overrides, damage) = read(path)
      #expect(overrides.isEmpty && damage.first?.contains("cannot be read") == true, "\(damage)")
    }
  }

  @Test("what cannot be kept is refused and not applied, and what was in force stays")
  func unwritable() throws {
    try withFile { path in
      let mine = ConditionOverrides(path: path) { _ in }
      try mine.set([(.idle, true)], at: Self.wall(1))
      // A folder where the new file is to be made.
      try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
      #expect(throws: TextProblem.self) {
        try mine.set([(.network, false)], at: Self.wall(2)) { _ in Issue.record("it was applied") }
      }
      #expect(mine.all.map(\.condition) == [.idle] && read(path).overrides == mine.all)
      // To clear all needs no new file.
      try mine.clear(.all)
      #expect(mine.all.isEmpty && read(path).overrides.isEmpty)
    }
  }
}
