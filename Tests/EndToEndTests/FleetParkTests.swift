import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Submissions that a host keeps while the database of its fleet is away.
@Suite("Fleet: park", .timeLimit(.minutes(10)))
struct FleetParkTests {
  private static let job = "IFS= read -r line; echo \"$line\" > @PIPE@"

  /// A host whose database has been killed.
  private func away(_ body: (FleetGround, HostProcess, LineProgram) async throws -> Void) async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try host.configure(fleet.configuration("a", job: Self.job))
      let lines = try fleet.reader()
      try await FleetGround.joined(host)
      try fleet.server.kill()
      try await body(fleet, host, lines)
    }
  }

  private static func park(_ host: HostProcess, _ arguments: String...) async throws -> JSON {
    let result = try await host.cli(["submit", "job", "--park", "--json"] + arguments)
    #expect(result.status == 0, "\(result)")
    return try result.json()
  }

  @Test("what is parked runs once when the database answers, also after a restart of the host, and can be cancelled before")
  func parking() async throws {
    try await away { fleet, host, lines in
      let parked = try await Self.park(host, "--payload", "{\"n\":1}")
      #expect(parked["parked"]?.bool == true, "\(parked)")
      let id = try #require(parked["id"]?.string)
      let named = try await Self.park(host, "--payload", "{\"n\":2}", "--idempotency-key", "mine")
      #expect(try await Self.park(host, "--payload", "{\"n\":2}", "--idempotency-key", "mine")["id"] == named["id"])
      let keyed = try await Self.park(host, "--payload", "{\"n\":3}", "--key", "k", "--on-conflict", "keep")
      let kept = try await Self.park(host, "--payload", "{\"n\":4}", "--key", "k", "--on-conflict", "keep")
      #expect(kept["id"] == keyed["id"] && kept["disposition"]?.string == "kept" && kept["parked"]?.bool == true, "\(kept)")
      let gone = try #require(try await Self.park(host, "--payload", "{\"n\":5}")["id"]?.string)
      // People see it, and it does not run here.
      let shown = try await host.json("tasks", "list", "state:paused")["requests"]?.array ?? []
      #expect(shown.count == 4, "\(shown)")
      // What is there besides cannot be listed, which a list says.
      #expect(try await host.json("tasks", "list")["incomplete"]?.string?.hasSuffix("what the fleet has besides is not listed") == true)
      let listing = try await host.cli("runs", "list")
      #expect(try await host.cli("forecast").errors.contains("what the fleet has besides is not in the forecast"))
      #expect(listing.status == 0 && listing.errors.contains("what the fleet has besides is not listed"), "\(listing)")
      let why = try await host.cli("tasks", "why", id)
      #expect(why.output.contains("it is parked"), "\(why)")
      let status = try await host.json("status")
      #expect(status["problems"]?.array.contains { $0["message"]?.string?.contains("4 are parked here") == true } == true, "\(status)")
      #expect(try await host.cli("tasks", "resume", id).status == 6)
      #expect(try await host.cli("tasks", "cancel", gone).status == 0)
      let refused = try await host.cli("submit", "job", "--park", "--key", "k", "--on-conflict", "replace")
      #expect(refused.status == 6 && refused.errors.contains("cannot be parked"), "\(refused)")
      // A host that is killed has it still, and begins without the database.
      await host.kill()
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
      try fleet.server.start()
      #expect(Set(try [lines.line(), lines.line(), lines.line()]) == ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"])
      let moved = try await host.request(id, is: "cancelled")
      #expect(moved["last_message"]?.string?.hasPrefix("moved to the fleet as ") == true, "\(moved)")
      // Nothing comes twice, and the key stands for the same submission.
      let again = try await host.cli("submit", "job", "--payload", "{\"n\":2}", "--idempotency-key", "mine", "--json")
      #expect(try again.json()["repeated"]?.bool == true, "\(again)")
      let last = try await FleetGround.submit(host, "--payload", "{\"n\":6}")
      #expect(try lines.line() == "{\"n\":6}")
      try await host.request(last, is: "succeeded")
      let answer = try await host.json("tasks", "list", "--state", "succeeded")
      #expect(answer["requests"]?.array.count == 4 && answer["incomplete"] == nil, "\(answer)")
    }
  }

  @Test("each parked submission is in the fleet once, although the host is killed while it sends them")
  func killed() async throws {
    try await away { fleet, host, lines in
      let count = 150
      let body = "[" + Array(repeating: "{\"identifier\":\"job\"}", count: count).joined(separator: ",") + "]"
      #expect(try SocketClient(host.socket).request("POST", "/v1/requests?park=true", body: body).status == 202)
      try fleet.server.start()
      // Some have come: others are on their way, or the fleet has them and the host does not know it.
      _ = try lines.line()
      await host.kill()
      try await host.start()
      try await host.current.line(with: "joined the fleet")
      func number(_ state: String) async throws -> Int {
        try await host.json("tasks", "list", "--state", state, "--limit", "1000")["requests"]?.array.count ?? -1
      }
      // A run that was killed with its host comes again: requests are counted, not lines.
      let end = ContinuousClock.now + .seconds(120)
      while try await number("succeeded") < count, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(100)) }
      let (succeeded, pending, moved) = (try await number("succeeded"), try await number("pending"), try await number("cancelled"))
      #expect((succeeded, pending, moved) == (count, 0, count))
    }
  }

  @Test("with the database there, --park submits; without it, HTTP answers 202, and 503 if it is not asked for")
  func answers() async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try host.configure(fleet.configuration("a", job: Self.job))
      let lines = try fleet.reader()
      try await FleetGround.joined(host)
      let there = try await Self.park(host, "--payload", "{\"n\":1}")
      #expect(there["parked"] == nil, "\(there)")
      #expect(try lines.line() == "{\"n\":1}")
      let here = try await host.cli("submit", "here", "--park", "--json")
      #expect(try here.json()["parked"] == nil, "\(here)")
      try fleet.server.kill()
      let body = "{\"identifier\":\"job\",\"payload\":{\"n\":2}}"
      #expect(try SocketClient(host.socket).request("POST", "/v1/requests?park=true", body: body).status == 202)
      #expect(try SocketClient(host.socket).request("POST", "/v1/requests", body: body).status == 503)
      try fleet.server.start()
      #expect(try lines.line() == "{\"n\":2}")
    }
  }
}
