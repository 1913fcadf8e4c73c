import Foundation
import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

/// What plugins do with requests of the fleet from their runs.
@Suite("Fleet: plugins", .timeLimit(.minutes(10)))
struct FleetPluginTests {
  /// Two hosts with a plugin of which the fleet has the identifiers.
  private func withHosts(
    _ plugin: String = "script", _ identifiers: [String] = ["test.script"], _ definitions: [String] = [],
    in ground: FleetGround? = nil, _ body: (FleetGround, HostProcess, HostProcess) async throws -> Void
  ) async throws {
    let fleet = if let ground { ground } else { try await FleetGround(lease: "10s") }
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        for (name, host) in [("a", first), ("b", second)] {
          try await host.add("\(plugin).so", plugin, definitions)
          let scopes = identifiers.map { "[plugin.\"\($0)\"]\nscope = \"fleet\"\n" }
          try host.configure("max_concurrent_runs = 64\n[fleet]\nurl = \"\(fleet.address)\"\nname = \"\(name)\"\n\(scopes.joined())")
        }
        try await FleetGround.joined(first, second)
        try await body(fleet, first, second)
      }
    }
  }

  private func output(_ host: HostProcess, _ script: String, of identifier: String = "test.script") async throws -> JSON {
    let run = try await host.run(script, identifier: identifier)
    return try #require(run["run"]?["output"], "\(run)")
  }

  @Test("the idempotency keys of a plugin are its own, beside the same ones of clients and of other plugins")
  func ownKeys() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { host in
      var scopes = ""
      for name in ["one", "two"] {
        try await host.add("\(name).so", "whole", ["-DIDENTIFIER=\"test.\(name)\""])
        scopes += "[plugin.\"test.\(name)\"]\nscope = \"fleet\"\n"
      }
      try host.configure("[fleet]\nurl = \"\(fleet.address)\"\n\(scopes)")
      try await FleetGround.joined(host)
      let client = try await host.cli("submit", "test.one", "--after", "2h", "--idempotency-key", "own")
      #expect(client.status == 0, "\(client)")
      func submit(_ name: String) async throws -> String {
        let run = try await host.run("own", identifier: name)
        let output = try #require(run["run"]?["output_base64"]?.string.flatMap { Data(base64Encoded: $0) }, "\(run)")
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      }
      let (one, two) = (try await submit("test.one"), try await submit("test.two"))
      #expect(one.count == 36 && two.count == 36 && one != two && !client.output.contains(one), "\(one), \(two)")
      #expect(try await submit("test.one") == one)
    }
  }

  @Test("a plugin has as many idempotency keys on record in a fleet as on one host")
  func mostKeys() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { host in
      try await host.add("one.so", "whole", ["-DIDENTIFIER=\"test.one\""])
      try host.configure("[fleet]\nurl = \"\(fleet.address)\"\n[plugin.\"test.one\"]\nscope = \"fleet\"\n")
      try await FleetGround.joined(host)
      try fleet.server.run(
        "INSERT INTO taskhost.idempotency SELECT 'plugin:test.one:' || n, 0, 1, taskhost.now_ms() FROM generate_series(1, 10000) n",
        on: fleet.address)
      let refused = try await host.run("own", identifier: "test.one")
      let output = try #require(refused["run"]?["output_base64"]?.string.flatMap { Data(base64Encoded: $0) }, "\(refused)")
      let words = String(decoding: output, as: UTF8.self)
      #expect(words.hasPrefix("-10 ") && words.contains("has 10000 idempotency keys on record"), "\(words)")
      let client = try await host.cli("submit", "test.one", "--after", "2h", "--idempotency-key", "a client's")
      #expect(client.status == 0, "\(client)")
    }
  }

  @Test("a launch lists and cancels what waits in the fleet, whoever has submitted it, before what it submits goes there")
  func launch() async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    let identifiers = ["test.requests.first", "test.requests.second"]
    try await withHosts("requests", identifiers, ["-DAT_LAUNCH=told(\"at launch\")"], in: fleet) { fleet, first, second in
      func submit(_ identifier: String, _ payload: String) async throws -> String {
        try #require(try await first.json("submit", identifier, "--after", "2h", "--payload", payload)["id"]?.string)
      }
      let (kept, cancelled) = (try await submit(identifiers[0], "\"a\""), try await submit(identifiers[1], "\"b\""))
      let calls = """
        told("at launch"); held(IDENTIFIER ".second", "gone"); status = requests->launch_cancel(launch, IDENTIFIER ".second"); \
        held(IDENTIFIER ".second", "new")
        """
      try await second.terminate()
      try await second.add("requests.so", "requests", ["-DAT_LAUNCH=\(calls)"])
      try await second.start()
      try await second.current.line(with: "at launch: status 0, 2 pending, 0 failures", ".first", "a", ".second", "b")
      try await first.request(cancelled, is: "cancelled")
      // The launch of a host whose database is away is told so, and what it has asked for waits.
      try fleet.server.kill()
      try await second.terminate()
      try await second.start()
      try await second.current.line(with: "at launch: status -11, 0 pending")
      let parked = try await second.json("tasks", "list", "state:paused")["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      #expect(parked.count == 1, "\(parked)")
      try fleet.server.start()
      let moved = try await second.request(try #require(parked.first), is: "cancelled")["last_message"]?.string ?? ""
      let new = try #require(moved.split(separator: " ").last.map(String.init))
      let pending = try await second.json("tasks", "list", "state:pending")["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      #expect(Set(pending) == [kept, new], "\(pending), \(moved)")
    }
  }

  @Test("what a run submits to its own identifier is a request of the fleet, which any host runs")
  func submits() async throws {
    try await withHosts { fleet, first, second in
      let told = try await output(second, "submit test.script result 0")
      #expect(told["submit"]?.integer == 0, "\(told)")
      let id = try #require(told["submitted"]?.string)
      try await first.request(id, is: "succeeded")
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.ended WHERE state = 'succeeded'", on: fleet.address) == "2")
    }
  }

  @Test("hundreds of short runs that end together, are tried again at once, or let others run, run as often as they should")
  func crowd() async throws {
    try await withHosts { fleet, first, second in
      func submit(_ count: Int, _ request: (Int) -> String) async throws -> [String] {
        let answer = try await first.post("/v1/requests", "[\((0..<count).map(request).joined(separator: ","))]")
        #expect(answer.status == 201, "\(answer)")
        return try answer.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      }
      let again = try await submit(400) { _ in #"{"identifier":"test.script","payload":"retry-after 1;result-until 2 3"}"# }
      for id in again { try await second.request(id, is: "succeeded") }
      let runs = "SELECT count(*), count(DISTINCT request) FROM taskhost.run"
      #expect(try fleet.server.run(runs, on: fleet.address) == "800|400")
      let before = try await submit(100) { _ in #"{"identifier":"test.script","delay_ms":1500}"# }
      let after = try await submit(100) { #"{"identifier":"test.script","after":[{"request":"\#(before[$0])"}]}"# }
      for id in after { try await first.request(id, is: "succeeded") }
      #expect(try fleet.server.run(runs, on: fleet.address) == "1000|600")
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.claim", on: fleet.address) == "0")
    }
  }

  @Test("what a host has claimed ahead of short runs goes back as soon as runs turn long")
  func turnsLong() async throws {
    let fleet = try await FleetGround(lease: "30s")
    try await HostProcess.prepare { host in
      try await host.add("requests.so", "requests")
      try host.configure(
        """
        [fleet]
        url = "\(fleet.address)"
        [plugin."test.requests.first"]
        scope = "fleet"
        [plugin."test.requests.first".entitlements]
        write = ["\(host.directory("shared"))"]
        [plugin."test.requests.second"]
        scope = "fleet"
        """)
      try await FleetGround.joined(host)
      let gate = try host.directory.fifo("gate")
      func submit(_ count: Int, _ payload: String) -> [String] {
        Array(repeating: #"{"identifier":"test.requests.first","payload":"\#(payload)"}"#, count: count)
      }
      let requests = submit(300, "") + submit(4, "gate \(gate.path)") + submit(600, "")
      let answer = try await host.post("/v1/requests", "[\(requests.joined(separator: ","))]")
      #expect(answer.status == 201)
      try await gate.arrival()
      // Else they go back after two seconds.
      let deadline = SystemClock.now + .milliseconds(1500)
      let claims = "SELECT count(*) FROM taskhost.claim"
      while try fleet.server.run(claims, on: fleet.address) != "4" {
        guard SystemClock.now < deadline else { throw TestFailure("it holds \(try fleet.server.run(claims, on: fleet.address))") }
      }
      gate.release()
      let left = "SELECT count(*) FROM taskhost.request"
      while try fleet.server.run(left, on: fleet.address) != "0" {
        guard SystemClock.now < deadline + .seconds(30) else { throw TestFailure("not all have run") }
      }
    }
  }

  @Test("what has ended is recorded once the database takes it, whichever connections were lost meanwhile and though nothing else comes")
  func recorded() async throws {
    try await withHosts("script", ["test.script"], ["-DMAX_RUNS=64"]) { fleet, first, second in
      let requests = Array(repeating: #"{"identifier":"test.script","delay_ms":1500}"#, count: 300).joined(separator: ",")
      let answer = try await first.post("/v1/requests", "[\(requests)]")
      #expect(answer.status == 201, "\(answer)")
      // From before they run, nothing can be recorded for some seconds, and who tries it loses its connection.
      let lock = """
        LOCK TABLE taskhost.run IN EXCLUSIVE MODE;
        DO $$ BEGIN
          FOR step IN 1..5 LOOP
            PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%taskhost.finish%';
            PERFORM pg_sleep(1);
          END LOOP;
        END $$
        """
      _ = try fleet.server.run(lock, on: fleet.address)
      for request in try answer.json()["requests"]?.array ?? [] { try await second.request(request["id"]?.string ?? "", is: "succeeded") }
    }
  }

  @Test("an event of a run wakes requests of the fleet at whichever host they run")
  func raises() async throws {
    try await withHosts { _, first, second in
      let waiting = try await second.submit("result 0", ["--on-event", "test.script.done"])
      let told = try await output(first, "notify test.script.done")
      #expect(told["notify"]?.integer == 0, "\(told)")
      try await first.request(waiting, is: "succeeded")
    }
  }

  @Test("what a plugin submits while it launches is a request of the fleet, also if the database is away then")
  func launches() async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DLAUNCH_SUBMIT"])
      try host.configure("[fleet]\nurl = \"\(fleet.address)\"\nname = \"a\"\n[plugin.\"test.script\"]\nscope = \"fleet\"\n")
      /// The requests of the host's own store with the plugin's key: they wait there for the fleet.
      func kept() async throws -> [JSON] {
        (try await host.json("tasks", "list", "key:launch")["requests"]?.array ?? []).filter { $0["last_outcome"] == nil }
      }
      try await FleetGround.joined(host)
      let first = try #require(try await kept().last?["id"]?.string)
      let moved = try await host.request(first, is: "cancelled")
      let there = try #require(moved["last_message"]?.string?.split(separator: " ").last.map(String.init))
      try await host.request(there, is: "succeeded")
      // The host begins without the database, and keeps what the next launch submits.
      try fleet.server.kill()
      try await host.terminate()
      try await host.start()
      let second = try #require(try await kept().first { $0["state"]?.string == "pending" }?["id"]?.string)
      #expect(try await host.cli("tasks", "why", second).output.contains("it is parked"))
      try fleet.server.start()
      let movedToo = try await host.request(second, is: "cancelled")
      #expect(movedToo["last_message"]?.string?.hasPrefix("moved to the fleet as ") == true, "\(movedToo)")
      #expect(movedToo["last_message"] != moved["last_message"])
    }
  }

  @Test("a run asks about requests and runs of the fleet, wherever they are")
  func asks() async throws {
    try await withHosts { _, first, second in
      let later = try await second.submit("result 0", ["--after", "1h"])
      let ended = try await second.submit("result 0")
      try await first.request(ended, is: "succeeded")
      for host in [first, second] {
        let shown = try #require(try await output(host, "show \(later)")["texts"]?.array.first)
        #expect(shown["id"]?.string == later)
        #expect(shown["payload"]?.string == "result 0", "\(shown)")
        let why = try await output(host, "why \(later)")["texts"]?.array.first
        #expect(why?["gates"]?.array.isEmpty == false, "\(String(describing: why))")
        let live = try await output(host, "live")["texts"]?.array ?? []
        #expect(live.contains { $0["id"]?.string == later }, "\(live)")
        let runs = try await output(host, "history test.script 20")["texts"]?.array ?? []
        #expect(runs.contains { $0["request"]?.string == ended }, "\(runs)")
        let success = try await output(host, "last-success test.script")
        #expect(success["texts"]?.array.first?["outcome"]?.string == "succeeded", "\(success)")
      }
      let gone = try await output(first, "show 01976c1e-0000-7000-8000-000000000000")
      #expect(gone["status"]?.integer == -8, "\(gone)")
    }
  }

  @Test("a run postpones and updates a request of the fleet that no host has")
  func changes() async throws {
    try await withHosts { _, first, second in
      let later = try await first.submit("result 0", ["--after", "1h"])
      let due = try #require(try await first.json("tasks", "show", later)["due_unix_ms"]?.integer)
      let postponed = try await output(second, "postpone \(later) 7200000")
      #expect(postponed["status"]?.integer == 0, "\(postponed)")
      #expect(try #require(postponed["start"]?.integer) > due + 3_000_000)
      let updated = try await output(second, "reprioritize \(later) 7")
      #expect(updated["status"]?.integer == 0, "\(updated)")
      #expect(try await first.json("tasks", "show", later)["priority"]?.integer == 7)
      // What the update left out is as if it had been left out at first.
      try await first.request(later, is: "succeeded")
      #expect(try await output(second, "postpone \(later) 1000")["status"]?.integer == -8)
    }
  }

  @Test("a run lists and cancels what is pending of its plugin in the fleet, and nothing that runs")
  func cancels() async throws {
    let (one, other) = ("test.requests.first", "test.requests.second")
    try await withHosts("requests", [one, other]) { _, first, second in
      _ = try await output(first, "submit .second 7200 a;submit .first 3600 b", of: one)
      _ = try await output(second, "submit .second 3600 c", of: one)
      let last = try #require(try await second.json("tasks", "list", "--identifier", other)["requests"]?.array.first?["id"]?.string)
      let listed = try await output(second, "list", of: one)
      #expect(listed["list"]?.array.compactMap(\.string) == [".second a 2 1", ".first b 1 1", ".second c 2 1"], "\(listed)")
      #expect(try await output(second, "cancel-one \(last)", of: one)["cancel"]?.integer == 0)
      try await first.request(last, is: "cancelled")
      let cancelled = try await output(first, "cancel .second", of: one)
      #expect(cancelled["cancelled"]?.integer == 1, "\(cancelled)")
      let all = try await output(second, "cancel-all", of: one)
      #expect(all["cancelled"]?.integer == 1, "\(all)")
      #expect(try await output(second, "list", of: one)["list"]?.array.isEmpty == true)
    }
  }
}
