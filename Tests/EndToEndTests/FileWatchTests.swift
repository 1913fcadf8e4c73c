import Foundation
import Glibc
import TestSupport
import Testing

/// `reload` of the configuration: what becomes of changed files.
@Suite("Changed files", .timeLimit(.minutes(20)))
struct FileWatchTests {
  private static let auto = "reload = \"auto\"\n"

  private static func problems(_ host: HostProcess) async throws -> [String] {
    (try await host.json("status")["problems"]?.array ?? []).compactMap { problem in
      guard let kind = problem["kind"]?.string, ["reload_pending", "reload_failed", "unwatched"].contains(kind) else { return nil }
      return "\(kind) \(problem["needs_action"]?.bool == true) \(problem["message"]?.string ?? "")"
    }
  }

  @Test("auto puts changes in force once they have come to rest, and manual offers them")
  func modes() async throws {
    try await HostProcess.run("max_pending = 5\n") { host in
      try host.configure("max_pending = 6\n")
      try await host.current.line(with: "changed since the last reload", "taskhost.toml")
      let offered = try await Self.problems(host)
      #expect(offered.count == 1 && offered[0].hasPrefix("reload_pending false"), "\(offered)")
      #expect(try await host.cli("status").status == 0, "nobody has to act")
      #expect(try await host.cli("reload").status == 0)
      #expect(try await Self.problems(host).isEmpty)
      // Undone by hand: there is nothing to offer any more.
      var from = host.current.lines.count
      try host.configure("max_pending = 7\n")
      try await host.current.line(with: "changed since the last reload", from: from)
      from = host.current.lines.count
      try host.configure("max_pending = 6\n")
      try await host.current.line(with: "the files that a reload would read are in force", from: from)
      #expect(try await Self.problems(host).isEmpty)
      try host.configure(Self.auto)
      #expect(try await host.cli("reload").status == 0)
      from = host.current.lines.count
      try host.configure(Self.auto + "max_concurrent_runs = 3\n")
      try await host.current.line(with: "reloaded: 1 key changed", "changed files", from: from)
      #expect(try await host.json("status")["max_concurrent_runs"]?.integer == 3)
      let audit = try await host.cli("audit", "--json").output.split(separator: "\n").map { try JSON(parsing: String($0)) }
      #expect(audit.contains { $0["operation"]?.string == "reload" && $0["by"]?.string == "changed files" }, "\(audit)")
    }
  }

  @Test("a plugin that comes, changes or goes is put in force by itself; one that is still copied is waited for")
  func plugins() async throws {
    try await HostProcess.run(Self.auto) { host in
      var from = host.current.lines.count
      try await host.addTwin("other.tmp")
      // The name of a temporary file means nothing; renamed into place, it counts.
      try await host.current.line(with: "reloaded", from: from)
      from = host.current.lines.count
      #expect(rename(host.directory("plugins/other.tmp"), host.directory("plugins/twin.so")) == 0)
      try await host.current.line(with: "reloaded: 1 plugin changed", from: from)
      #expect(try await host.cli("submit", "test.twin", "--wait").status == 0)
      // A copy in pieces: the first half is no plugin, and never tried.
      let bytes = try Data(contentsOf: URL(filePath: host.directory("plugins/twin.so")))
      from = host.current.lines.count
      try FileManager.default.removeItem(atPath: host.directory("plugins/twin.so"))
      let copy = open(host.directory("plugins/twin.so"), O_WRONLY | O_CREAT | O_EXCL, 0o644)
      #expect(copy >= 0)
      let half = bytes.count / 2
      #expect(bytes.withUnsafeBytes { write(copy, $0.baseAddress, half) } == half)
      // Another change makes the host look meanwhile.
      try host.configure(Self.auto + "max_pending = 9\n")
      try await Task.sleep(for: .seconds(4))
      #expect(!host.current.lines.dropFirst(from).contains { $0.contains("not reloaded") }, "half of a file was taken")
      #expect(bytes.withUnsafeBytes { write(copy, $0.baseAddress.map { $0 + half }, bytes.count - half) } == bytes.count - half)
      close(copy)
      try await host.current.line(with: "reloaded", from: from)
      #expect(try await host.cli("submit", "test.twin", "--wait").status == 0)
      from = host.current.lines.count
      try FileManager.default.removeItem(atPath: host.directory("plugins/twin.so"))
      try await host.current.line(with: "reloaded: 1 plugin changed", from: from)
      #expect(try await host.cli("submit", "test.twin").status == 6)
    }
  }

  @Test("what is wrong changes nothing, is a problem, and is tried again at the next change only")
  func failure() async throws {
    try await HostProcess.run(Self.auto) { host in
      var from = host.current.lines.count
      try host.configure(Self.auto + "max_pending = 0\n")
      try await host.current.line(with: "not reloaded:", "max_pending", "changed files", from: from)
      let found = try await Self.problems(host)
      #expect(found.count == 1 && found[0].hasPrefix("reload_failed true") && found[0].contains("max_pending"), "\(found)")
      #expect(try await host.cli("status").status == 1)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      from = host.current.lines.count
      // The same text, written anew, as an editor does.
      try host.configure(Self.auto + "max_pending = 0\n")
      try await Task.sleep(for: .seconds(3))
      #expect(!host.current.lines.dropFirst(from).contains { $0.contains("not reloaded") })
      try host.configure(Self.auto + "max_pending = 3\n")
      try await host.current.line(with: "reloaded", "changed files", from: from)
      #expect(try await Self.problems(host).isEmpty)
    }
  }

  @Test("a directory that is gone and comes back, or is a link that leads elsewhere, is seen; a flood of files costs a look or two")
  func directories() async throws {
    try await HostProcess.run(Self.auto) { host in
      var from = host.current.lines.count
      let (plugins, away) = (host.directory("plugins"), host.directory("away"))
      #expect(rename(plugins, away) == 0)
      try await host.current.line(with: "not reloaded:", from: from)
      from = host.current.lines.count
      #expect(symlink("away", plugins) == 0)
      try await host.current.line(with: "the files that a reload would read are in force", from: from)
      from = host.current.lines.count
      try FileManager.default.createDirectory(atPath: host.directory("third"), withIntermediateDirectories: false)
      #expect(chmod(host.directory("third"), 0o755) == 0)
      #expect(symlink("third", host.directory("link")) == 0)
      #expect(rename(host.directory("link"), plugins) == 0)
      try await host.current.line(with: "reloaded: 1 plugin changed", from: from)
      from = host.current.lines.count
      for index in 0..<3000 { try host.directory.file("third/\(index).txt", "") }
      try FileManager.default.copyItem(atPath: away + "/script.so", toPath: host.directory("third/script.so"))
      try await host.current.line(with: "reloaded: 1 plugin changed", from: from)
      #expect(host.current.lines.dropFirst(from).count { $0.contains("come to rest") } <= 2)
    }
  }

  @Test("after a hundred SIGHUPs the last change counts, and the host answers")
  func storm() async throws {
    try await HostProcess.run("max_pending = 5\n") { host in
      let from = host.current.lines.count
      for _ in 0..<100 { host.signal(SIGHUP) }
      try host.configure("max_pending = 6\n")
      host.signal(SIGHUP)
      try await host.current.line(with: "reloaded: 1 key changed", from: from)
      #expect(try await host.json("status")["problems"]?.array.isEmpty == true)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("SIGHUP's reload is in the audit with its reason")
  func hangup() async throws {
    try await HostProcess.run("max_pending = 5\n") { host in
      try host.configure("max_pending = 6\n")
      host.signal(SIGHUP)
      try await host.current.line(with: "reloaded: 1 key changed", "SIGHUP")
      var entries: [JSON] = []
      for _ in 0..<50 where entries.isEmpty {
        let all = try await host.cli("audit", "--json").output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        entries = all.filter { $0["operation"]?.string == "reload" }
      }
      #expect(entries.first?["by"]?.string == "SIGHUP" && entries.first?["from"]?.string == "host", "\(entries)")
      #expect(entries.first?["target"]?.string == "1 key", "\(entries)")
    }
  }
}
