import TestSupport
import Foundation
import Testing

/// What people ask and decide about scheduling, at a shell.
@Suite("Scheduling at the command line", .timeLimit(.minutes(20)))
struct SchedulingCommandTests {
  private func sentences(of id: String, _ host: HostProcess) async throws -> [String] {
    try await host.json("tasks", "why", id)["gates"]?.array.compactMap(\.string) ?? []
  }

  private func gates(of id: String, _ host: HostProcess) async throws -> [JSON] {
    try await host.json("tasks", "why", id)["details"]?.array ?? []
  }

  @Test("an event wakes a request that waits for it, with its payload, once or every time")
  func events() async throws {
    try await HostProcess.run(script: ["-DALWAYS_ECHO"]) { host in
      let once = try await host.json("submit", "test.script", "--on-event", "deploy", "--payload", "\"mine\"")
      #expect(once["next_start"] == .null)
      let id = try #require(once["id"]?.string)
      #expect(try await sentences(of: id, host).contains { $0.contains("deploy") })
      #expect(try await host.cli("tasks", "list").output.contains("on deploy"))
      #expect(try await host.cli("notify", "other").output == "other: nothing waits for it\n")
      #expect(try await host.cli("notify", "deploy", "--payload", "{\"v\":  7}").output == "deploy: woke 1\n")
      try await host.request(id, is: "succeeded")
      #expect(try await host.lastOutput(of: id) == .object(["v": .integer(7)]))
      #expect(try await host.json("notify", "deploy")["waiting"]?.integer == 0)

      let every = try await host.json("submit", "test.script", "--on-event", "deploy", "--every-event", "--payload", "\"own\"")
      let repeating = try #require(every["id"]?.string)
      for count in 1...2 {
        #expect(try await host.json("notify", "deploy")["woken"]?.integer == 1)
        try await host.request(repeating) { $0["state"]?.string == "pending" && $0["due"] == .null && $0["last_outcome"] != nil }
        #expect(try await host.runs(of: repeating).count == count)
      }
      #expect(try await host.lastOutput(of: repeating) == .string("own"))
      let counters = try await host.json("status")["counters"]
      #expect(counters?["events_received"]?.integer == 5)
      #expect(counters?["events_woken"]?.integer == 3)
      #expect(counters?["events_dropped"]?.integer == 2)
    }
  }

  @Test("a request that watches a file runs when the file changes")
  func watch() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("result 0", ["--watch", "shared/dropped"])
      #expect(try await host.json("tasks", "show", id)["watch"]?.string == host.directory("shared/dropped"))
      try host.directory.file("shared/dropped", "here")
      try await host.request(id, is: "succeeded")
    }
  }

  @Test("a condition that an operator sets holds requests back until it is cleared, and why says so")
  func conditions() async throws {
    try await HostProcess.run { host in
      #expect(try await host.cli("conditions", "set", "idle=none").output.contains("idle             no, set"))
      let id = try await host.submit("result 0", ["--requires", "idle"])
      let gate = try #require(try await gates(of: id, host).first { $0["gate"]?.string == "conditions" })
      #expect(gate["sentence"]?.string?.contains("idle") == true, "\(gate)")
      #expect(gate["remedy"] != nil, "\(gate)")
      let why = try await host.cli("tasks", "why", id).output
      #expect(why.hasPrefix("conditions: ") && why.contains("earliest possible start: "), "\(why)")
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
      _ = try await host.json("conditions", "set", "idle=any")
      try await host.request(id, is: "succeeded")
      let cleared = try await host.json("conditions", "clear")["conditions"]?.array ?? []
      #expect(cleared.count == 6 && cleared.allSatisfy { $0["overridden"]?.bool == false }, "\(cleared)")
    }
  }

  @Test("a deadline lets a request run whose condition does not hold")
  func deadline() async throws {
    try await HostProcess.run { host in
      _ = try await host.json("conditions", "set", "idle=none")
      let deadline = Date.now.addingTimeInterval(3).ISO8601Format()
      let answer = try await host.json("submit", "test.script", "--requires", "idle", "--deadline", deadline)
      #expect(answer["effective"]?["deadline"]?.string == deadline)
      try await host.request(answer["id"]?.string ?? "", is: "succeeded")
    }
  }

  @Test("submit answers with the schedule as it is kept, the request shows it, and the forecast knows it")
  func cron() async throws {
    try await HostProcess.run { host in
      let answer = try await host.json(
        "submit", "test.script", "--cron", "30 8 * * *", "--tz", "Pacific/Apia", "--daylight-repeat", "both", "--flex", "5m", "--missed",
        "all:3")
      let effective = try #require(answer["effective"])
      let start = try #require(effective["next_start_unix_ms"]?.integer)
      // Apia is 13 hours ahead of UTC and sets its clocks no more.
      #expect(start / 1000 % 86_400 == (8 * 3600 + 1800 + 86_400 - 13 * 3600) % 86_400)
      #expect(effective["latest_start_unix_ms"]?.integer == start + 300_000)
      #expect(effective["time_zone"]?.string == "Pacific/Apia")
      let id = try #require(answer["id"]?.string)
      let shown = try await host.json("tasks", "show", id)
      #expect(shown["cron"]?.string == "30 8 * * *" && shown["daylight_repeat"]?.string == "both")
      #expect(shown["missed"]?.string == "all" && shown["missed_limit"]?.integer == 3 && shown["flex_ms"]?.integer == 300_000)
      // A day is not enough in the five minutes of the flexibility: the run may be as late as they end.
      let forecast = try await host.json("forecast", "--hours", "25")
      let first = try #require(forecast["entries"]?.array.first { $0["request"]?.string == id }, "\(forecast)")
      #expect((start...start + 300_000).contains(first["at_unix_ms"]?.integer ?? 0), "\(first)")
      #expect(try await host.cli("forecast", "--hours", "25").output.contains(id))
      let none = try await host.submit("result 0", ["--on-event", "never"])
      let held = try await host.json("forecast")["held"]?.array ?? []
      #expect(held.contains { $0["request"]?.string == none && $0["reason"]?.string?.contains("never") == true }, "\(held)")
    }
  }

  @Test("what follows runs after it, gets its output, and fails with it unless it is told to ignore that")
  func follows() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      let gate = try host.directory.fifo("gate")
      let first = try await host.submit("gate \(gate.path);result 4")
      try await gate.arrival()
      let strict = try await host.submit("result 0", ["--follows", first])
      let lenient = try await host.submit("result 0", ["--follows", "\(first):ignore"])
      #expect(try await host.json("tasks", "show", strict)["state"]?.string == "blocked")
      let why = try #require(try await gates(of: strict, host).first { $0["gate"]?.string == "predecessor" })
      #expect(why["held_by"]?.array == [.string(first)], "\(why)")
      gate.release()
      try await host.request(lenient, is: "succeeded")
      let failed = try await host.request(strict, is: "failed")
      #expect(failed["last_message"]?.string?.contains(first) == true, "\(failed)")
      let remedy = try #require(try await gates(of: strict, host).first { $0["gate"]?.string == "ended" })["remedy"]?.string
      #expect(remedy == "taskhost tasks retry \(first)")
      #expect(try await host.cli("tasks", "retry", strict).errors.contains("taskhost tasks retry \(first)"))
    }
  }

  @Test("update changes the holder of a key, append waits for it, and an idempotency key is answered twice the same")
  func keys() async throws {
    try await HostProcess.run { host in
      let key = ["submit", "test.script", "--key", "k", "--json"]
      let holder = try await host.cli(key + ["--after", "1h"]).json()["id"]?.string ?? ""
      let updated = try await host.cli(key + ["--on-conflict", "update", "--after", "2h", "--priority", "7"]).json()
      #expect(updated["disposition"]?.string == "updated" && updated["id"]?.string == holder)
      #expect(try await host.json("tasks", "show", holder)["priority"]?.integer == 7)
      let appended = try await host.cli(key + ["--on-conflict", "append"]).json()
      #expect(appended["disposition"]?.string == "appended")
      #expect(try await host.json("tasks", "show", appended["id"]?.string ?? "")["state"]?.string == "blocked")
      let told = try await host.cli("submit", "test.script", "--key", "k", "--on-conflict", "update")
      #expect(told.errors.contains("updated: "), "\(told.errors)")

      let one = try await host.json("submit", "test.script", "--idempotency-key", "i", "--after", "1h")
      let two = try await host.json("submit", "test.script", "--idempotency-key", "i", "--after", "1h")
      #expect(one["id"] == two["id"])
      #expect(one["repeated"] == nil && two["repeated"]?.bool == true)
    }
  }

  @Test("requests are put off, cancelled by tag, and dead letters are retried together")
  func many() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      let tag = ["--tag", "nightly", "--after", "1h"]
      let (one, two) = (try await host.submit("result 0", tag), try await host.submit("result 0", tag))
      let snoozed = try await host.cli("tasks", "snooze", one, "--for", "3h30m")
      #expect(snoozed.status == 0 && snoozed.output == "\(one) in 3 h\n", "\(snoozed.output) \(snoozed.errors)")
      #expect(try await host.cli("tasks", "cancel", "--tag", "nightly").output == "2 requests cancelled\n")
      for id in [one, two] { #expect(try await host.json("tasks", "show", id)["state"]?.string == "cancelled") }

      let script = "result-until 2 4"
      for _ in 0..<2 { #expect(try await host.run(script)["outcome"]?.string == "failed") }
      let retried = try await host.cli("tasks", "retry", "--all", "--identifier", "test.script")
      #expect(retried.status == 0 && retried.output.split(separator: "\n").count == 2, "\(retried.output) \(retried.errors)")
      let other = try await host.cli("tasks", "retry", "--all", "--identifier", "test.nobody")
      #expect(other.status == 0 && other.errors == "no request has failed\n", "\(other.errors)")
    }
  }

  @Test("why names the run that holds a request, and what would change it")
  func why() async throws {
    try await HostProcess.run(script: ["-DMAX_RUNS=1"]) { host in
      let gate = try host.directory.fifo("gate")
      let first = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      let second = try await host.submit("result 0")
      let run = try #require(try await host.runs(of: first).first?["id"]?.string)
      let busy = try #require(try await gates(of: second, host).first { $0["gate"]?.string == "plugin_busy" })
      #expect(busy["held_by"]?.array == [.string(run)], "\(busy)")
      let text = try await host.cli("tasks", "why", second).output
      #expect(text.contains("  held by  \(run)\n"), "\(text)")
      gate.release()
      try await host.request(second, is: "succeeded")
      #expect(try await host.json("tasks", "why", second)["gates"]?.array.count == 1)
    }
  }

  @Test("status tells apart never ran, ran with nothing to do, and ran and expired")
  func status() async throws {
    try await HostProcess.prepare { host in
      for name in ["never", "idle", "slow"] {
        try await host.add("\(name).so", "script", ["-DIDENTIFIER=\"test.\(name)\"", "-DBUDGET_MS=300"])
      }
      try host.configure("[retry]\nattempts = 1\n")
      try await host.start()
      _ = try await host.run("result 1;message nothing new", identifier: "test.idle")
      _ = try await host.run("on-expire;wait-expired;result 3", identifier: "test.slow")
      _ = try await host.submit("result 0", ["--after", "2h30m"], identifier: "test.never")
      let tasks = try await host.json("status")["tasks"]?.array ?? []
      #expect(tasks.map { $0["identifier"]?.string } == ["test.idle", "test.never", "test.slow"])
      #expect(tasks.map { $0["last"]?.string } == ["noop", "never", "retried"], "\(tasks)")
      #expect(tasks.map { $0["expired"]?.bool } == [false, nil, true])
      let table = try await host.cli("status").output
      for words in ["nothing to do", "never ran", "retried (expired)", "in 2 h"] { #expect(table.contains(words), "\(table)") }
    }
  }
}
