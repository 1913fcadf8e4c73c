import Foundation
import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

/// Schedules and repeating requests that a fleet shares.
@Suite("Fleet: schedules", .timeLimit(.minutes(10)))
struct FleetScheduleTests {
  private static let often = "minimum_interval = \"1s\"\nschedule = \"every 1s\""
  private let job = "echo \"$TASKHOST_REQUEST_ID\" > @PIPE@"

  private func live(_ host: HostProcess) async throws -> [JSON] {
    try await host.json("tasks", "list", "identifier:job", "state:pending,running")["requests"]?.array ?? []
  }

  @Test("a schedule that two hosts have is one request of the fleet, and each of its times has one run")
  func once() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job, keys: Self.often) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let seen = try (0..<4).map { _ in try lines.line() }
      let id = seen[0]
      #expect(Set(seen) == [id])
      for host in [first, second] { #expect(try await live(host).map { $0["id"]?.string } == [id]) }
      // It goes on as long as a host has it.
      await first.kill()
      #expect(try lines.line() == id)
      try second.configure(fleet.configuration("b", job: job))
      #expect(try await second.cli("reload").status == 0)
      #expect(try await live(second).count == 1, "the other host has it still")
      try first.configure(fleet.configuration("a", job: job))
      try await FleetGround.joined(first)
      try await second.request(id, is: "cancelled")
      #expect(try await live(first) == [])
    }
  }

  @Test("a bulk cancel leaves the request of a schedule alone, also while it runs on some host")
  func bulk() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo up > @PIPE@; exec sleep 600", keys: Self.often) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      #expect(try lines.line() == "up")
      for host in [first, second] {
        let result = try await host.cli("tasks", "cancel", "--filter", "identifier:job", "--yes", "--json")
        let answer = try result.json()
        #expect(answer["changes"]?.integer == 0 && answer["refused"]?.array.count == 1, "\(result)")
      }
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.request WHERE NOT stop", on: fleet.address) == "1")
    }
  }

  @Test("a schedule that ends at the moment when another host gets it is there again")
  func handover() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let often = "schedule = \"cron 0 0 29 2 *\""
    try await fleet.withHosts(job: job, keys: often) { first, second in
      try second.configure(fleet.configuration("b", job: job))
      try await FleetGround.joined(first, second)
      let request = "SELECT coalesce(min(id), 0) FROM taskhost.request"
      let id = try await wait(fleet, request) { $0 != "0" }
      let due = "SELECT coalesce(min(due), 0) FROM taskhost.request"
      let before = try fleet.server.run(due, on: fleet.address)
      try first.configure(fleet.configuration("a", job: job, keys: often.replacing("29", with: "28")))
      #expect(try await first.cli("reload").status == 0)
      _ = try await wait(fleet, due) { $0 != before }
      // As if another host had found that nobody has it, at the moment before this one had it.
      try fleet.server.run("DELETE FROM taskhost.later; DELETE FROM taskhost.ready; DELETE FROM taskhost.request", on: fleet.address)
      #expect(try await wait(fleet, request) { $0 != "0" && $0 != id } != id)
    }
  }

  /// Waits until what SQL answers is as it should be, and returns that.
  private func wait(_ fleet: FleetGround, _ statement: String, until isRight: (String) -> Bool) async throws -> String {
    let limit = SystemClock.now + .seconds(30)
    while true {
      let answer = try fleet.server.run(statement, on: fleet.address)
      if isRight(answer) { return answer }
      guard SystemClock.now < limit else { throw TestFailure("\(statement): \(answer)") }
    }
  }

  @Test("a changed schedule is put in force by a reload of any host, and keeps its request")
  func changed() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job, keys: "schedule = \"cron 0 4 * * *\"") { first, second in
      try await FleetGround.joined(first, second)
      let id = try #require(try await live(first).first?["id"]?.string)
      try second.configure(fleet.configuration("b", job: job, keys: Self.often))
      let lines = try fleet.reader()
      #expect(try await second.cli("reload").status == 0)
      #expect(try lines.line() == id)
      #expect(try await live(first).map { $0["id"]?.string } == [id])
    }
  }

  @Test("each host's status has the fleet's schedules, with their next starts, last runs and failures")
  func status() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo x > @PIPE@; exit 1", keys: Self.often) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      // Runs of one request: what began before the last one has been recorded.
      for _ in 0..<5 { _ = try lines.line() }
      let letter = try await FleetGround.submit(second)
      try await second.request(letter, is: "failed")
      for host in [first, second] {
        let status = try await host.json("status")
        let tasks = status["tasks"]?.array.filter { $0["identifier"]?.string == "job" } ?? []
        #expect(tasks.count == 2, "the schedule, and what was submitted: \(tasks)")
        let task = try #require(tasks.first { $0["unique_key"]?.string == "config:job" })
        #expect(task["last"]?.string == "retried" || task["last"]?.string == "failed", "\(task)")
        #expect((task["failures_in_a_row"]?.integer ?? 0) >= 4, "\(task)")
        let problems = status["problems"]?.array.filter { $0["kind"]?.string == "failing" && $0["subject"]?.string == "job" } ?? []
        #expect(problems.count == 1, "\(status["problems"] as Any)")
        let letters = status["problems"]?.array.filter { $0["kind"]?.string == "dead_letters" && $0["subject"]?.string == "job" } ?? []
        #expect(letters.count == 1, "\(status["problems"] as Any)")
        let metrics = try await onThread { [socket = host.socket] in try SocketClient(socket).request("GET", "/metrics") }.body
        let failures = metrics.split(separator: "\n").first { $0.hasPrefix("taskhost_consecutive_failures{identifier=\"job\"}") }
        #expect((failures?.split(separator: " ").last.flatMap { Int($0) } ?? 0) >= 4, "\(failures as Any)")
      }
      for host in [first, second] {
        try host.configure(fleet.configuration(host.socket == first.socket ? "a" : "b", job: "exit 0", keys: "schedule = \"every 1h\""))
        #expect(try await host.cli("reload").status == 0)
      }
      let next = try await second.json("status")["tasks"]?.array.first { $0["identifier"]?.string == "job" }
      #expect(next?["next_start_unix_ms"]?.integer != nil, "\(next as Any)")
    }
  }

  @Test("a repeating request runs on whichever host, and ends when it is cancelled")
  func repeating() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job, keys: "minimum_interval = \"1s\"") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let id = try await first.cli("submit", "job", "--every", "1s").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try (0..<3).map { _ in try lines.line() } == [id, id, id])
      for host in [first, second] {
        let tasks = try await host.json("status")["tasks"]?.array.filter { $0["identifier"]?.string == "job" } ?? []
        #expect(tasks.map { $0["last"]?.string } == ["succeeded"], "\(tasks)")
      }
      let cancelled = try await second.cli("tasks", "cancel", id)
      #expect(cancelled.status == 0, "\(cancelled)")
      try await first.request(id, is: "cancelled")
    }
  }

  @Test("a schedule by an event runs once, whichever host hears the event")
  func event() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job) { first, second in
      let lines = try fleet.reader()
      for (host, name) in [(first, "a"), (second, "b")] {
        try host.configure(fleet.configuration(name, job: job, more: "[schedule.\"job/deployed\"]\non = \"deploy\""))
      }
      try await FleetGround.joined(first, second)
      let id = try #require(try await live(first).first?["id"]?.string)
      #expect(try await second.json("notify", "deploy")["woken"]?.integer == 1)
      #expect(try lines.line() == id)
      try await first.request(id, is: "pending")
      #expect(try await first.json("notify", "deploy")["woken"]?.integer == 1)
      #expect(try lines.line() == id)
    }
  }
}
