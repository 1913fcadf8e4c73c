import Foundation
import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

/// What a reload changes of a host's part in its fleet.
@Suite("Fleet: reload", .timeLimit(.minutes(10)))
struct FleetReloadTests {
  @Test("a host serves a plugin for the fleet that a reload brings, and says so, until a reload takes it away")
  func plugins() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { host in
      try host.configure("[fleet]\nurl = \"\(fleet.address)\"\nname = \"a\"\n[plugin.\"test.script\"]\nscope = \"fleet\"\n")
      try await FleetGround.joined(host)
      /// Waits until the fleet knows that the host has these.
      func serves(_ identifiers: String) async throws {
        let limit = SystemClock.now + .seconds(20)
        let asked = "SELECT array_to_string(identifiers, ',') FROM taskhost.host WHERE fenced IS NULL"
        while try fleet.server.run(asked, on: fleet.address) != identifiers {
          guard SystemClock.now < limit else { throw TestFailure("the fleet does not know that the host serves '\(identifiers)'") }
        }
      }
      try await serves("")
      try await host.add("script.so", "script")
      #expect(try await host.cli("reload").status == 0)
      let run = try await host.run("result 0")
      #expect(run["run"]?["outcome"]?.string == "succeeded", "\(run)")
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.ended", on: fleet.address) == "1")
      try await serves("test.script")
      // An application may submit it from now on.
      let id = try fleet.server.run("SELECT taskhost.submit('test.script', payload_bytes => 'result 0')", on: fleet.address)
      try fleet.server.run("NOTIFY taskhost", on: fleet.address)
      try await host.request(id, is: "succeeded")
      try FileManager.default.removeItem(atPath: host.plugins + "/script.so")
      #expect(try await host.cli("reload").status == 0)
      try await serves("")
    }
  }

  @Test("a host that freezes right after a reload has no run when the next owner begins it")
  func frozen() async throws {
    let job = """
      if [ @HOST@ = a ]; then
        trap '' TERM INT HUP
        echo "begun a" > @PIPE@
        while :; do date +%s%N >> @PIPE@.a; done
      fi
      date +%s%N > @PIPE@.b
      echo "begun b" > @PIPE@
      """
    let fleet = try await FleetGround(lease: "12s")
    try await fleet.withHosts(job: job) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      // The worker of a changed command is a new one, which no renewal has told of the lease's end.
      try first.configure(fleet.configuration("a", job: job, keys: "budget = \"1h\""))
      #expect(try await first.cli("reload").status == 0)
      _ = try await FleetGround.submit(first)
      #expect(try lines.line() == "begun a")
      first.signal(SIGSTOP)
      try await FleetGround.joined(second)
      #expect(try lines.line() == "begun b")
      func times(_ name: String) throws -> [Int] {
        try String(contentsOfFile: fleet.pipe + name, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
      }
      let (end, begin) = (try #require(times(".a").max()), try #require(times(".b").min()))
      #expect(end < begin, "the run on a went on for \(end - begin) ns")
      first.signal(SIGCONT)
      try await first.current.line(with: "joined the fleet again")
    }
  }
}
