import Foundation
import TestSupport
import Testing

/// What `org.taskhost.requests/2` tells and changes under the real host.
@Suite("Plugins ask about requests", .timeLimit(.minutes(20)))
struct RequestQuestionTests {
  /// What a run of a script answers.
  private func output(_ host: HostProcess, _ script: String, of identifier: String = "test.script") async throws -> JSON {
    try #require(try await host.run(script, identifier: identifier)["run"]?["output"])
  }

  private func texts(_ host: HostProcess, _ script: String) async throws -> [JSON] {
    let output = try await output(host, script)
    #expect(output["status"]?.integer == 0, "\(script): \(output)")
    return try #require(output["texts"]?.array)
  }

  @Test("a request is told as the command line tells it, and why it waits", arguments: Isolation.allCases)
  func told(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let id = try await host.submit(
        "result 0", ["--after", "2h", "--priority", "3", "--tag", "a", "--key", "k", "--on-conflict", "update"])
      let shown = try await texts(host, "show \(id)")
      let asOperator = try await host.json("tasks", "show", id)
      #expect(shown == [asOperator])
      #expect(shown.first?["priority"]?.integer == 3 && shown.first?["tags"]?.array.map(\.string) == ["a"])
      let live = try await texts(host, "live")
      #expect(live.map { $0["state"]?.string } == ["running", "pending"])
      #expect(live.last?["id"]?.string == id)
      #expect(try await texts(host, "live test.script").count == 2)
      let why = try await texts(host, "why \(id)")
      #expect(why.first?["id"]?.string == id)
      #expect(why.first?["details"]?.array.map { $0["gate"]?.string } == ["time"])
      #expect(why.first?["earliest_start_unix_ms"]?.integer == shown.first?["due_unix_ms"]?.integer)
      let conditions = try #require(try await texts(host, "conditions").first?["conditions"]?.array)
      #expect(conditions.count == 6 && conditions.allSatisfy { $0["observed"]?.string?.isEmpty == false })
    }
  }

  @Test("a waiting request is postponed and changed, durably", arguments: Isolation.allCases)
  func changed(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let id = try await host.submit("result 0", ["--after", "2h", "--tag", "a"])
      let postponed = try await output(host, "postpone \(id) 86400000")
      #expect(postponed["status"]?.integer == 0)
      #expect(try await host.json("tasks", "show", id)["due_unix_ms"]?.integer == postponed["start"]?.integer)
      #expect(try await output(host, "postpone \(id) 0")["status"]?.integer == -1)
      let gate = try host.directory.fifo("gate")
      let running = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      #expect(try await output(host, "postpone \(running) 1000")["status"]?.integer == -1, "it runs")
      gate.release()
      try await host.request(running, is: "succeeded")
      #expect(try await output(host, "postpone \(running) 1000")["status"]?.integer == -8, "it has ended")
      #expect(try await output(host, "reprioritize \(id) 5")["status"]?.integer == 0)
      // The new fields have no time: it may start at once, and does.
      try await host.request(id, is: "succeeded")
      let request = try await host.json("tasks", "show", id)
      #expect(request["priority"]?.integer == 5 && request["tags"]?.array == [])
    }
  }

  @Test("runs on record are told, newest first, and the last success", arguments: Isolation.allCases)
  func history(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let none = try await output(host, "last-success test.script")
      #expect(none["status"]?.integer == -8)
      _ = try await host.run("message it has failed;result 4")
      let runs = try await texts(host, "history test.script 2")
      #expect(runs.map { $0["outcome"]?.string } == ["failed", "succeeded"])
      #expect(runs.first?["message"]?.string == "it has failed")
      let last = try await texts(host, "last-success test.script")
      #expect(last.first?["outcome"]?.string == "succeeded")
    }
  }

  @Test("others' requests are told and changed only where the configuration says so, and never a schedule's", arguments: Isolation.allCases)
  func permission(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      try await host.add("other.so", "script", ["-DIDENTIFIER=\"test.other\""])
      try host.configure("[plugin.\"test.other\"]\nmay_submit = [\"test.script\"]\nschedule = \"every 24h\"\n")
      try await host.start()
      let other = try await host.submit("result 0", ["--after", "1h"], identifier: "test.other")
      for step in ["live test.other", "history test.other 1", "last-success test.other"] {
        #expect(try await output(host, step)["status"]?.integer == -4, "\(step)")
      }
      let unknown = String(other.dropLast(12)) + "000000000000"
      for step in ["show ID", "why ID", "postpone ID 1000", "reprioritize ID 1"] {
        let foreign = try await output(host, step.replacingOccurrences(of: "ID", with: other))
        let missing = try await output(host, step.replacingOccurrences(of: "ID", with: unknown))
        #expect(foreign["status"]?.integer == -8, "\(step): \(foreign)")
        #expect(missing["status"]?.integer == -8, "\(step): \(missing)")
        let sentence = try #require(foreign["error"]?.string)
        #expect(sentence.contains(other) && sentence.replacingOccurrences(of: other, with: unknown) == missing["error"]?.string, "\(step)")
      }
      let id = try await host.submit("result 0", ["--after", "1h"])
      let shown = try await output(host, "show \(id);postpone \(id) 7200000", of: "test.other")
      #expect(shown["status"]?.integer == 0)
      #expect(shown["texts"]?.array.first?["identifier"]?.string == "test.script")
      #expect(shown["texts"]?.array.first?["payload"] == nil, "the payload is the other plugin's")
      let scheduled = try #require(
        try await host.json("tasks", "list", "--identifier", "test.other")["requests"]?.array.first { $0["every_ms"] != nil }?["id"]?.string
      )
      #expect(try await output(host, "show \(scheduled)", of: "test.other")["status"]?.integer == 0)
      #expect(try await output(host, "postpone \(scheduled) 1000", of: "test.other")["status"]?.integer == -4)
      #expect(try await output(host, "reprioritize \(scheduled) 1", of: "test.other")["status"]?.integer == -4)
    }
  }
}
