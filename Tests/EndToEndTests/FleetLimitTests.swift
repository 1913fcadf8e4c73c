import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// What decides which host of a fleet runs a request, and when.
@Suite("Fleet: limits", .timeLimit(.minutes(10)))
struct FleetLimitTests {
  @Test("a request that asks for a label runs on a host that has it, whichever host it was submitted to")
  func labels() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo @HOST@ > @PIPE@") { first, second in
      let lines = try fleet.reader()
      for (host, name, labels) in [(first, "a", "\"test\""), (second, "b", "\"gpu\", \"test\"")] {
        let configuration = fleet.configuration(name, job: "echo @HOST@ > @PIPE@")
        try host.configure("overdue_after = \"1s\"\n" + configuration.replacing("labels = [\"test\"]", with: "labels = [\(labels)]"))
      }
      try await FleetGround.joined(first, second)
      for _ in 0..<4 { _ = try await FleetGround.submit(first, "--resource", "gpu") }
      #expect(try (0..<4).map { _ in try lines.line() } == ["b", "b", "b", "b"])
      let nowhere = try await FleetGround.submit(first, "--resource", "moon")
      _ = try await FleetGround.submit(first, "--after", "1500ms")
      _ = try lines.line()
      #expect(try await second.json("tasks", "show", nowhere)["state"]?.string == "pending")
      for host in [first, second] {
        let overdue = try await host.json("status")["problems"]?.array.filter { $0["kind"]?.string == "overdue" } ?? []
        #expect(overdue.count == 1 && overdue.first?["needs_action"]?.bool == true, "\(overdue)")
        #expect(overdue.first?["remedy"]?.string?.contains(nowhere) == true, "\(overdue)")
        let reasons = try #require(overdue.first?["message"]?.string)
        #expect(reasons.contains("moon") || reasons.contains("no host has taken it"))
        #expect(try await host.cli("tasks", "list", "--problem").output.contains(nowhere))
      }
    }
  }

  @Test("runs of one concurrency key follow each other in the whole fleet")
  func keys() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let job = "echo begun > @PIPE@; sleep 0.05; echo ended > @PIPE@"
    try await fleet.withHosts(job: job, slots: 4) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      for number in 0..<8 { _ = try await FleetGround.submit(number % 2 == 0 ? first : second, "--concurrency-key", "k") }
      for _ in 0..<8 {
        #expect(try lines.line() == "begun")
        #expect(try lines.line() == "ended")
      }
    }
  }

  @Test("a drained host sleeps, although a rate opens of which it takes nothing")
  func drained() async throws {
    let fleet = try await FleetGround(lease: "30s")
    try await fleet.withHosts(job: "echo @HOST@ > @PIPE@", keys: "rate_limit = \"1/2s\"") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      for _ in 0..<3 { _ = try await FleetGround.submit(first) }
      #expect(try lines.line() == "a")
      #expect(try await fleet.taskhost("drain", "a").status == 0)
      try await FleetGround.joined(second)
      func ticks() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(first.processID)/stat", encoding: .utf8)
        return text.split(separator: ")").last?.split(separator: " ")[11...12].reduce(0) { $0 + (Int($1) ?? 0) } ?? .max
      }
      _ = try lines.line()
      let before = try ticks()
      _ = try lines.line()
      #expect(try ticks() - before < 50, "hundredths of a second, of about 200")
    }
  }

  @Test("a host that has begun all that a rate allows begins more as soon as it allows that")
  func alone() async throws {
    let fleet = try await FleetGround(lease: "30s")
    try await fleet.withHosts(job: "date +%s%3N > @PIPE@", keys: "rate_limit = \"2/1s\"") { first, _ in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      // At once: programs that submit one may be slow to start.
      let all = try await first.post("/v1/requests", "[\(Array(repeating: "{\"identifier\":\"job\"}", count: 6).joined(separator: ","))]")
      #expect(all.status == 201, "\(all)")
      let begun = try (0..<6).map { _ in try #require(Int64(try lines.line())) }
      // A host that is woken by nothing looks after five seconds.
      #expect(begun[5] - begun[0] < 4500, "\(begun)")
    }
  }

  @Test("a publication of all tables, as for logical replication, keeps nothing from running")
  func publication() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo ran > @PIPE@; exit $(cat)") { first, second in
      let lines = try fleet.reader()
      for (host, name) in [(first, "a"), (second, "b")] {
        let keys = "rate_limit = \"5/1s\"\nrate_limit_per_key = \"5/1s\"\nruns_per_key = 1"
        try host.configure(fleet.configuration(name, job: "echo ran > @PIPE@; exit $(cat)", keys: keys))
      }
      try fleet.server.run("CREATE PUBLICATION everything FOR ALL TABLES", on: fleet.address)
      try await FleetGround.joined(first, second)
      var last = ""
      for number in 0..<12 {
        let host = number % 2 == 0 ? first : second
        last = try await FleetGround.submit(host, "--concurrency-key", "k", "--key", "\(number)", "--tag", "t", "--payload", "0")
      }
      for _ in 0..<12 { #expect(try lines.line() == "ran") }
      try await first.request(last, is: "succeeded")
      let dead = try await FleetGround.submit(first, "--payload", "1")
      try await second.request(dead, is: "failed")
      #expect(try await second.cli("tasks", "discard", dead).status == 0)
      #expect(try await second.json("status")["problems"]?.array.filter { $0["kind"]?.string == "fleet" }.isEmpty == true)
    }
  }

  @Test("requests with hundreds of concurrency keys all run, those of one key one after the other")
  func manyKeys() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo ran > @PIPE@", slots: 4) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let sql = "SELECT count(taskhost.submit('job', concurrency_key => 'account-' || n % 300)) FROM generate_series(1, 600) n"
      #expect(try fleet.server.run(sql, on: fleet.address) == "600")
      for _ in 0..<600 { #expect(try lines.line() == "ran") }
    }
  }

  @Test("a rate holds for the whole fleet")
  func rates() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "date +%s%3N > @PIPE@", keys: "rate_limit = \"2/3s\"") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      for number in 0..<5 { _ = try await FleetGround.submit(number % 2 == 0 ? first : second) }
      let times = try (0..<5).map { _ in try #require(Int(try lines.line())) }
      // The claims are three seconds apart; how long a run takes to begin differs.
      #expect(times[2] - times[0] > 2000 && times[3] - times[1] > 2000 && times[4] - times[2] > 2000, "\(times)")
    }
  }

  @Test("conditions are observed for what is ready in the fleet, and the host where they come to hold runs it")
  func conditions() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo @HOST@ > @PIPE@") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      // Nobody has asked for it before: whether it holds is not known.
      _ = try await FleetGround.submit(first, "--requires", "storage_not_low")
      _ = try lines.line()
      for host in [first, second] { #expect(try await host.cli("conditions", "set", "idle=none").status == 0) }
      let id = try await FleetGround.submit(first, "--requires", "idle")
      _ = try await FleetGround.submit(first)
      _ = try lines.line()
      #expect(try await second.json("tasks", "show", id)["state"]?.string == "pending")
      #expect(try await second.cli("conditions", "set", "idle=any").status == 0)
      #expect(try lines.line() == "b")
      try await first.request(id, is: "succeeded")
    }
  }

  @Test("a deadline lets a request run whose condition holds nowhere")
  func deadlines() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo done > @PIPE@") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      for host in [first, second] { #expect(try await host.cli("conditions", "set", "idle=none").status == 0) }
      let deadline = Date.now.addingTimeInterval(10).ISO8601Format()
      let id = try await FleetGround.submit(first, "--requires", "idle", "--deadline", deadline)
      #expect(try await second.json("tasks", "show", id)["state"]?.string == "pending")
      #expect(try lines.line() == "done")
      try await first.request(id, is: "succeeded")
    }
  }
}
