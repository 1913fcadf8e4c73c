import Foundation
import TestSupport
import Testing

/// The ids that people type, on the real host and command line.
@Suite("Short ids", .timeLimit(.minutes(20)))
struct ShortIDTests {
  @Test("the beginning of an id means its request if it means no other; else the command names those that it may mean")
  func beginnings() async throws {
    try await HostProcess.run { host in
      let first = try await host.submit("result 0", ["--after", "1h"])
      let second = try await host.submit("result 0", ["--after", "1h", "--key", "a \"b\"/c"])
      let common = String(zip(first, second).prefix { $0 == $1 }.map(\.0))
      let ambiguous = try await host.cli("tasks", "cancel", common)
      #expect(ambiguous.status == 6, "\(ambiguous)")
      #expect(ambiguous.errors.contains("the ids of several requests begin so: \(second), \(first)"), "\(ambiguous)")
      let shown = try await host.cli("tasks", "show", String(first.prefix(common.count + 1)).uppercased())
      #expect(shown.status == 0 && shown.output.contains(first), "\(shown)")
      #expect(try await host.cli("tasks", "cancel", String(first.prefix(common.count + 1))).output == "\(first) cancelled\n")
      for pattern in ["*", "test.*", "other,test.script", ""] {
        let refused = try await host.cli("tasks", "cancel", pattern + "/a \"b\"/c")
        #expect(refused.status == 6 && refused.errors.contains("is not an identifier"), "a pattern is not an identifier: \(refused)")
      }
      #expect(try await host.cli("tasks", "snooze", "test.script/a \"b\"/c", "--for", "2h").output.hasPrefix(second))
      let tab = try await host.submit("result 0", ["--after", "1h", "--key", "a\t:b"])
      #expect(try await host.json("tasks", "show", "test.script/a\t:b")["id"]?.string == tab)
      for named in ["test.script/a\t:b", "test.script/a\t:b:ignore", String(tab.dropLast(1))] {
        let follower = try await host.submit("result 0", ["--follows", named])
        #expect(try await host.json("tasks", "show", follower)["blocked_by"]?.string == tab)
      }
      let other = try await host.cli("transfers", "pause", "test.script/a\t:b")
      #expect(other.status == 6 && other.errors.contains("request \(tab) is of test.script, not a transfer"), "\(other)")
    }
  }

  @Test("what is both a unique key and the name of a schedule is refused with both ids; one that has ended does not count")
  func schedules() async throws {
    try await HostProcess.run("[schedule.\"test.script/nightly\"]\nevery = \"1d\"\n") { host in
      let schedule = try await host.json("tasks", "show", "test.script/nightly")["id"]?.string ?? "none"
      let id = try await host.submit("result 0", ["--key", "nightly", "--after", "1h"])
      let refused = try await host.cli("tasks", "show", "test.script/nightly")
      #expect(refused.status == 6 && refused.errors.contains("called so: \(id), \(schedule)"), "\(refused)")
      #expect(try await host.cli("tasks", "cancel", id).status == 0)
      #expect(try await host.json("tasks", "show", "test.script/nightly")["id"]?.string == schedule)
    }
  }

  @Test("a key means the live request that holds it, else the newest that held it; a run has short ids too")
  func keys() async throws {
    try await HostProcess.run { host in
      _ = try await host.run("result 0", ["--key", "k"])
      let ended = try await host.json("tasks", "show", "test.script/k")
      #expect(ended["state"]?.string == "succeeded")
      let id = try await host.submit("result 0", ["--key", "k", "--after", "1h"])
      #expect(try await host.json("tasks", "show", "test.script/k")["id"]?.string == id)
      let old = try #require(ended["id"]?.string)
      let run = try #require(try await host.runs(of: String(old.dropLast(1))).first)
      let whole = try #require(run["id"]?.string)
      #expect(try await host.json("runs", "show", String(whole.dropLast(4)))["id"]?.string == whole)
      #expect(try await host.cli("runs", "logs", String(whole.dropLast(1))).status == 0)
    }
  }
}
