import Foundation
import TestSupport
import Testing

/// Pauses that hold requests on all hosts of a fleet.
@Suite("Fleet: pauses", .timeLimit(.minutes(10)))
struct FleetPauseTests {
  @Test("what a pause of the fleet holds begins on no host until any host ends it; what is each host's own goes on")
  func everywhere() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo @HOST@ > @PIPE@") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let dry = try await first.json("pause", "--fleet", "--dry-run")
      #expect(dry["id"] == nil && dry["fleet"]?.bool == true, "\(dry)")
      let made = try await first.cli("pause", "identifier:jo*", "--fleet", "--why", "the database moves")
      #expect(made.status == 0 && made.output.contains("identifier:jo* in the fleet is paused: 0 requests wait"), "\(made)")
      let held = try await FleetGround.submit(second)
      // The host has heard of the pause when its list has it.
      try await second.request(held) { $0["state"]?.string == "pending" }
      let own = try await second.submit("", [], identifier: "here")
      try await second.request(own, is: "succeeded")
      for host in [first, second] {
        let listed = try await Self.pauses(of: host, reach: 1)
        #expect(listed[0]["filter"]?.string == "identifier:jo*" && listed[0]["why"]?.string == "the database moves", "\(listed)")
        let why = try await host.cli("tasks", "why", held).output
        #expect(why.contains("has paused identifier:jo* in the fleet, until somebody ends it: the database moves"), "\(why)")
      }
      #expect(try await first.json("tasks", "show", held)["state"]?.string == "pending")
      #expect(try await second.json("status")["pauses"]?.array.count == 1)
      // A host's own pauses are others.
      let others = try await second.cli("resume", "--all")
      #expect(others.status != 0 && others.errors.contains("the fleet has pauses"), "\(others)")
      let noted = try await second.json("submit", "job", "--after", "1h")
      #expect(noted["notes"]?.array.first?.string?.contains("has paused identifier:jo* in the fleet") == true, "\(noted)")
      let number = try #require(try await Self.pauses(of: second, reach: 1)[0]["id"]?.integer)
      let resumed = ContinuousClock.now
      let ended = try await second.cli("resume", "\(number)")
      #expect(ended.status == 0 && ended.output.contains("identifier:jo* in the fleet is resumed"), "\(ended)")
      #expect(["a", "b"].contains(try lines.line()))
      #expect(ContinuousClock.now - resumed < .seconds(3), "hosts look by themselves only every 5 s")
      try await first.request(held, is: "succeeded")
      _ = try await Self.pauses(of: first, reach: 0)
      #expect(try await first.cli("resume", "\(number)").status != 0)
    }
  }

  @Test("a pause of the fleet selects by identifier, and only a host of a fleet takes one")
  func refusals() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "exit 0") { first, _ in
      try await FleetGround.joined(first)
      let tagged = try await first.cli("pause", "tag:nightly", "--fleet")
      #expect(tagged.status != 0 && tagged.errors.contains("selects by identifier alone"), "\(tagged)")
      #expect(try await first.cli("pause", "--fleet", "--until", "1h").status == 0)
      #expect(try await first.cli("resume", "--all", "--fleet").output == "everything in the fleet is resumed\n")
      let nothing = try await first.cli("resume", "--fleet")
      #expect(nothing.status != 0 && nothing.errors.contains("there is no pause of everything; nothing is paused"), "\(nothing)")
    }
    try await HostProcess.run { host in
      let refused = try await host.cli("pause", "--fleet")
      #expect(refused.status != 0 && refused.errors.contains("this host is in no fleet"), "\(refused)")
    }
  }

  /// The pauses that a host lists, once there are that many.
  private static func pauses(of host: HostProcess, reach count: Int) async throws -> [JSON] {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      let pauses = try await host.json("pause", "--list")["pauses"]?.array ?? []
      if pauses.count == count { return pauses }
      guard ContinuousClock.now < end else { throw TestFailure("\(pauses)") }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
