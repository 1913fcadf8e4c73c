import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Changes to requests that a host of a fleet has: what was answered outlives that host.
@Suite("Fleet: changes to what a host has", .timeLimit(.minutes(10)))
struct FleetHeldTests {
  @Test("a run's request that was paused stays paused when its host is killed before the run has ended, and goes on elsewhere")
  func paused() async throws {
    let fleet = try await FleetGround()
    let job = "trap '' TERM; echo \"begun @HOST@\" > @PIPE@; test @HOST@ = b || { read line < @PIPE@.never; exit 1; }"
    try await fleet.withHosts(job: job) { first, second in
      guard mkfifo(fleet.pipe + ".never", 0o600) == 0 else { throw TestFailure("mkfifo") }
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      let id = try await FleetGround.submit(first)
      #expect(try lines.line() == "begun a")
      #expect(try await first.sendForm("/ui/requests/\(id)/pause") == "/ui/requests/\(id)?done=paused")
      await first.kill()
      try await FleetGround.joined(second)
      // The request is nobody's once the first host's lease has ended.
      let other = try await FleetGround.submit(second)
      #expect(try lines.line() == "begun b")
      try await second.request(other, is: "succeeded")
      let end = ContinuousClock.now + .seconds(30)
      while try fleet.server.run("SELECT count(*) FROM taskhost.claim", on: fleet.address) != "0" {
        guard ContinuousClock.now < end else { throw TestFailure("it stays the killed host's") }
        try await Task.sleep(for: .milliseconds(50))
      }
      let why = try await second.cli("tasks", "why", id).output
      #expect(why.contains("is paused"), "\(why)")
      #expect(try await second.sendForm("/ui/requests/\(id)/resume") == "/ui/requests/\(id)?done=resumed")
      #expect(try lines.line() == "begun b")
      try await second.request(id, is: "succeeded")
      let shown = try await second.json("tasks", "show", id)
      #expect(shown["losses"]?.integer == 0, "\(shown)")
    }
  }

  @Test("while the database is away, a change of what a host runs is not answered as if it outlived the host")
  func away() async throws {
    let server = try PostgresServer()
    let fleet = try await FleetGround(lease: "30s", server: server)
    try await fleet.withHost(job: "trap '' TERM; echo begun > @PIPE@; read line < @PIPE@.never") { host in
      guard mkfifo(fleet.pipe + ".never", 0o600) == 0 else { throw TestFailure("mkfifo") }
      let lines = try fleet.reader()
      let id = try await FleetGround.submit(host)
      #expect(try lines.line() == "begun")
      try server.kill()
      let answer = try await host.page("POST", "/ui/requests/\(id)/pause", ["sec-fetch-site: same-origin"])
      #expect(answer.status == 503 && answer.text.contains("whether that outlives the host is not known"), "\(answer)")
      try server.start()
      #expect(try await host.sendForm("/ui/requests/\(id)/pause") == "/ui/requests/\(id)?done=paused")
    }
  }

  @Test("an update that holds a unique key for a while holds it in the fleet, from whichever host")
  func window() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "exit 0") { first, second in
      try await FleetGround.joined(first, second)
      let update = ["submit", "job", "--key", "w", "--on-conflict", "update", "--after", "1h"]
      let made = try await first.json(update)
      let id = try #require(made["id"]?.string)
      let updated = try await second.json(update + ["--unique-window", "1h"])
      #expect(updated["id"]?.string == id && updated["disposition"]?.string == "updated", "\(updated)")
      #expect(try await first.cli("tasks", "cancel", id).status == 0)
      let again = try await second.json("submit", "job", "--key", "w", "--on-conflict", "keep", "--unique-window", "1h", "--after", "1h")
      #expect(again["id"]?.string == id && again["disposition"]?.string == "kept", "\(again)")
    }
  }
}
