import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// `taskhost store export | taskhost fleet import`: the requests of a host's store go into a fleet.
@Suite("Fleet: import", .timeLimit(.minutes(10)))
struct FleetImportTests {
  /// Says what it got, and fails if that asks for it.
  private static let job = """
    IFS= read -r line; echo "@HOST@ $line $TASKHOST_REQUEST_ID" > @PIPE@
    case $line in *fail*) exit 1;; esac
    printf '{"o":1}'
    """

  private static func configuration(_ fleet: FleetGround, _ name: String, isInFleet: Bool = true) -> String {
    fleet.configuration(
      name, job: job, keys: "stdout = \"output\"",
      more: """
        [schedule."job/nightly"]
        every = "6h"
        """, isInFleet: isInFleet)
  }

  private static func export(_ host: HostProcess) async throws -> Data {
    let result = try await host.cli("store", "export")
    #expect(result.status == 0, "\(result)")
    return Data(result.output.utf8)
  }

  private static func move(
    _ fleet: FleetGround, _ host: HostProcess, _ archive: Data, _ arguments: String..., status: Int32 = 0
  ) async throws -> JSON {
    let result = try await host.cli(["fleet", "import", "--url", fleet.address, "--json"] + arguments, input: archive)
    #expect(result.status == status, "\(result)")
    return try JSON(parsing: result.output)
  }

  @Test("what waits in a store runs once in the fleet, with keys and graphs, and its host lets go of it")
  func moving() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        let lines = try fleet.reader()
        try first.configure(Self.configuration(fleet, "a", isInFleet: false))
        try second.configure(Self.configuration(fleet, "b"))
        try await first.start()
        // The schedule's first run is at once, and the next one hours later.
        #expect(try lines.line().hasPrefix("a "))
        // Two that ended: one stands for its idempotency key, the other one's output is in the edge of a third one.
        let ended = try await FleetGround.submit(first, "--payload", "{\"n\":1}", "--idempotency-key", "once")
        #expect(try lines.line() == "a {\"n\":1} \(ended)")
        try await first.request(ended, is: "succeeded")
        let letter = try await FleetGround.submit(first, "--payload", "{\"fail\":0}")
        #expect(try lines.line() == "a {\"fail\":0} \(letter)")
        try await first.request(letter, is: "failed")
        let waiting = try await FleetGround.submit(
          first, "--on-event", "go", "--payload", "{\"n\":2}", "--key", "k", "--on-conflict", "keep", "--idempotency-key", "twice")
        let last = try await FleetGround.submit(first, "--follows", waiting, "--follows", ended, "--payload", "{\"n\":3}")
        let here = try await first.cli("submit", "here", "--after", "1h")
        #expect(here.status == 0, "\(here)")
        // No fleet waits for a file of one machine.
        let file = fleet.directory("file")
        let left = try await FleetGround.submit(first, "--watch", file, "--payload", "{\"n\":4}")
        // Beside the host, only a trial is allowed.
        let open = try await Self.export(first)
        let trial = try await Self.move(fleet, first, open, "--identifier", "job", "--dry-run", status: 1)
        #expect(trial["requests"]?.integer == 3 && trial["left"]?.array.count == 2, "\(trial)")
        #expect(trial["dead_letters"]?.integer == 1 && trial["open"]?.bool == true, "\(trial)")
        let refused = try await first.cli("fleet", "import", "--url", fleet.address, "--identifier", "job", input: open)
        #expect(refused.status == 6 && refused.errors.contains("stop the host"), "\(refused)")
        #expect(try await first.terminate().status == 0)

        let archive = try await Self.export(first)
        let due = try await Self.dueOfSchedule(archive)
        // Half of it is nothing.
        let half = try await first.cli(
          "fleet", "import", "--url", fleet.address, "--identifier", "job", input: archive.prefix(archive.count / 2))
        #expect(half.status == 1, "\(half)")
        #expect(try await fleet.json("status")["not_due"]?.integer == 0)
        let moved = try await Self.move(fleet, first, archive, "--identifier", "job", status: 1)
        #expect(moved["requests"]?.integer == 3 && moved["dead_letters"]?.integer == 1 && moved["ended"]?.integer == 1, "\(moved)")
        #expect(moved["idempotency_keys"]?.integer == 2, "\(moved)")
        #expect(moved["left"]?.array.map { $0["reason"]?.string } == ["other_identifier", "unsupported"], "\(moved)")
        let again = try await Self.move(fleet, first, archive, "--identifier", "job", status: 1)
        #expect(again["requests"]?.integer == 0 && again["imported_before"]?.integer == 4 && again["ended"]?.integer == 0, "\(again)")

        try first.configure(Self.configuration(fleet, "a"))
        try await FleetGround.joined(first, second)
        // What stayed runs here.
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try lines.line() == "a {\"n\":4} \(left)")
        try await first.request(left, is: "succeeded")
        // Its own are gone: what is listed is the fleet's, and what it said to people.
        let old = try await first.json("tasks", "show", waiting)
        #expect(old["state"]?.string == "cancelled" && old["last_message"]?.string?.hasPrefix("moved to the fleet as ") == true, "\(old)")
        let listed = try await second.json("tasks", "list", "--identifier", "job")["requests"]?.array ?? []
        let states = listed.map { "\($0["state"]?.string ?? "") \($0["unique_key"]?.string ?? "")" }
        #expect(states.sorted() == ["blocked ", "failed ", "pending config:job/nightly", "pending k", "succeeded "], "\(states)")
        let schedule = try #require(listed.first { $0["unique_key"]?.string == "config:job/nightly" })
        #expect(schedule["due_unix_ms"]?.integer == due, "\(schedule)")
        // Keys mean what they meant.
        let new = try #require(listed.first { $0["unique_key"]?.string == "k" }?["id"]?.string)
        #expect(try await FleetGround.submit(second, "--payload", "{\"n\":9}", "--key", "k", "--on-conflict", "keep") == new)
        let known = try #require(listed.first { $0["state"]?.string == "succeeded" }?["id"]?.string)
        #expect(try await FleetGround.submit(second, "--payload", "{\"n\":1}", "--idempotency-key", "once") == known)
        // The one that waits, and the one that waits for it, with the output of the one that had ended before.
        #expect(try await second.cli("notify", "go").status == 0)
        let told = [try lines.line(), try lines.line()].map { $0.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
        #expect(told == ["{\"n\":2}", "{\"n\":3,\"o\":1}"] || told == ["{\"n\":2}", "{\"o\":1,\"n\":3}"], "\(told)")
        let retried = try await second.cli("tasks", "retry", try #require(listed.first { $0["state"]?.string == "failed" }?["id"]?.string))
        #expect(retried.status == 0, "\(retried)")
        #expect(try lines.line().contains("{\"fail\":0}"))
        _ = last
      }
    }
  }

  private static func dueOfSchedule(_ archive: Data) async throws -> Int64? {
    for line in String(decoding: archive, as: UTF8.self).split(separator: "\n") where line.contains("config:job/nightly") {
      return try JSON(parsing: String(line))["due_unix_ms"]?.integer
    }
    return nil
  }

  @Test("without its database, a host that may have moved requests does not begin")
  func away() async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      let lines = try fleet.reader()
      // It is in the fleet already, with another identifier.
      let there = "[command.there]\nscope = \"fleet\"\nshell = \"exit 0\"\n[command.there.entitlements]\n"
      let before = Self.configuration(fleet, "a").replacing("[command.here]", with: there + "[command.here]")
      try host.configure(before.replacing("[command.job]\nscope = \"fleet\"", with: "[command.job]"))
      try await FleetGround.joined(host)
      #expect(try lines.line().hasPrefix("a "), "the schedule's run")
      _ = try await FleetGround.submit(host, "--after", "1h")
      #expect(try await host.terminate().status == 0)
      try host.configure(before)
      try fleet.server.kill()
      let refused = try await host.failure()
      #expect(refused.status == 75 && refused.errors.contains("whether they were moved"), "\(refused)")
      try fleet.server.start()
      try await FleetGround.joined(host)
    }
  }

  @Test("what has ended in the store since it was exported does not run again: the host cancels it in the fleet")
  func stale() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { host in
      let lines = try fleet.reader()
      try host.configure(Self.configuration(fleet, "a", isInFleet: false))
      try await host.start()
      #expect(try lines.line().hasPrefix("a "), "the schedule's run")
      let waits = try await FleetGround.submit(host, "--on-event", "go", "--payload", "{\"n\":1}")
      let later = try await FleetGround.submit(host, "--on-event", "never", "--payload", "{\"n\":2}")
      #expect(try await host.terminate().status == 0)
      let archive = try await Self.export(host)
      try await host.start()
      #expect(try await host.cli("notify", "go").status == 0)
      #expect(try lines.line() == "a {\"n\":1} \(waits)")
      try await host.request(waits, is: "succeeded")
      #expect(try await host.terminate().status == 0)
      #expect(try await Self.move(fleet, host, archive, "--identifier", "job")["requests"]?.integer == 3)
      try host.configure(Self.configuration(fleet, "a"))
      try await host.start()
      try await host.current.line(with: "imported into the fleet by an export that is older")
      let there = try #require(
        try await host.json("tasks", "show", later)["last_message"]?.string?.split(separator: " ").last.map(String.init))
      #expect(try await host.json("tasks", "show", waits)["state"]?.string == "succeeded")
      #expect(try await host.cli("notify", "never").status == 0)
      // Nothing came in between.
      #expect(try lines.line() == "a {\"n\":2} \(there)")
      let cancelled = try fleet.server.run("SELECT count(*) FROM taskhost.ended WHERE state = 'cancelled'", on: fleet.address)
      #expect(cancelled == "1")
    }
  }
}
