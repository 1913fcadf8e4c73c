import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// What a host of a fleet answers for both: its own requests, and those of the fleet.
@Suite("Fleet: control", .timeLimit(.minutes(10)))
struct FleetControlTests {
  /// Asks for page after page, and returns what each has under `name`.
  private func pages(_ host: HostProcess, _ path: String, of name: String, by method: String = "GET") async throws -> [[JSON]] {
    let socket = host.socket
    return try await onThread {
      let client = try SocketClient(socket)
      var pages: [[JSON]] = []
      var next: String?
      repeat {
        let answer = try client.request(method, path + (next.map { "&after=\($0)" } ?? ""))
        guard answer.status == 200, pages.count < 20 else { throw TestFailure("\(path), page \(pages.count + 1): \(answer)") }
        let page = try answer.json()
        pages.append(page[name]?.array ?? [])
        next = page["next"]?.string
      } while next != nil
      return pages
    }
  }

  private func ask(_ host: HostProcess, _ method: String, _ path: String) async throws -> SocketClient.Answer {
    let socket = host.socket
    return try await onThread { try SocketClient(socket).request(method, path) }
  }

  /// A host with commands of its own, `here` and `bad`, whose fleet has a server of its own.
  private func withServer(job: String = "exit 0", _ body: (FleetGround, HostProcess) async throws -> Void) async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try host.configure(fleet.configuration("a", job: job, more: "[command.bad]\nshell = \"exit 1\""))
      try await FleetGround.joined(host)
      try await body(fleet, host)
    }
  }

  @Test("a run far down in the fleet's history is found page by page, and a page without one says that there is more")
  func history() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      let id = try await FleetGround.submit(host)
      try await host.request(id, is: "succeeded")
      // Thousands of newer runs that only their records tell from what the filter selects.
      try fleet.server.run(
        """
        INSERT INTO taskhost.run (id, request, identifier, outcome, ended, incarnation, epoch, record)
        SELECT n.id, r.request, 'other', r.outcome, r.ended, r.incarnation, r.epoch,
          replace(replace(r.record, r.id, n.id), '"job"', '"other"')
        FROM taskhost.run r, (SELECT 'f0000000-' || lpad(to_hex(i), 4, '0') || '-7000-8000-000000000000' AS id
          FROM generate_series(1, 6000) AS i) n
        """, on: fleet.address)
      let found = try await pages(host, "/v1/runs?filter=identifier:jo*&limit=10", of: "runs")
      #expect(found.count > 1 && found.joined().map { $0["request"]?.string } == [id], "\(found)")
      #expect(try await host.cli("runs", "list", "identifier:jo*").output.contains("job"))
      let all = try await pages(host, "/v1/runs?limit=2000", of: "runs").joined().compactMap { $0["id"]?.string }
      #expect(all.count == 6001 && Set(all).count == 6001)
    }
  }

  @Test("with as many live runs as a page has rows, the pages have what has ended too")
  func liveRuns() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let lines = try fleet.reader()
    try await fleet.withHost(job: "[ \"$(cat)\" = 0 ] || { echo begun > @PIPE@; exec sleep 600; }") { host in
      let ended = try await FleetGround.submit(host, "--payload", "0")
      try await host.request(ended, is: "succeeded")
      var live: [String] = []
      for _ in 0..<2 {
        live.append(try await FleetGround.submit(host, "--payload", "1"))
        #expect(try lines.line() == "begun")
      }
      for limit in 1...3 {
        let found = try await pages(host, "/v1/runs?limit=\(limit)", of: "runs")
        let requests = found.joined().compactMap { $0["request"]?.string }
        #expect(Set(requests) == Set(live + [ended]), "\(limit): \(found)")
        #expect(found[0].allSatisfy { $0["outcome"] == nil } == (limit < 3), "\(limit): \(found)")
      }
    }
  }

  @Test("while the database is away, nothing is done of what is for all, and what is for the host's own identifier is done")
  func away() async throws {
    try await withServer { fleet, host in
      let late = try await host.submit("x", ["--after", "1h", "--tag", "night"], identifier: "here")
      let dead = try await host.submit("x", [], identifier: "bad")
      try await host.request(dead, is: "failed")
      let waiting = try await host.submit("x", ["--on-event", "deploy"], identifier: "here")
      try fleet.server.kill()
      for (method, path) in [
        ("DELETE", "/v1/requests?tag=night"), ("POST", "/v1/requests/retry?limit=10"), ("POST", "/v1/requests/discard?limit=10"),
        ("DELETE", "/v1/requests?identifier=job"), ("POST", "/v1/requests/retry?identifier=job"),
      ] {
        let refused = try await ask(host, method, path)
        #expect(refused.status == 503 && refused.body.contains("the fleet's database, which may have some"), "\(path): \(refused)")
      }
      #expect(try await host.json("tasks", "show", late)["state"]?.string == "pending")
      #expect(try await host.json("tasks", "show", dead)["state"]?.string == "failed")
      let cancelled = try await ask(host, "DELETE", "/v1/requests?identifier=here&tag=night")
      #expect(cancelled.status == 200 && (try? cancelled.json())?["cancelled"]?.integer == 1, "\(cancelled)")
      let discarded = try await ask(host, "POST", "/v1/requests/discard?identifier=bad")
      #expect((try? discarded.json())?["discarded"]?.array.map(\.string) == [dead], "\(discarded)")
      let heard = try await host.cli("notify", "deploy")
      #expect(heard.status == 6 && heard.errors.contains("1 request of this host is woken by this event already"), "\(heard)")
      try await host.request(waiting, is: "succeeded")
    }
  }

  @Test("dead letters of the fleet and of the host are retried and discarded page by page, and listed by tag")
  func deadLetters() async throws {
    try await withServer(job: "exit 1") { _, host in
      var dead: Set<String> = []
      for number in 0..<5 {
        let id = try await host.submit("x", ["--tag", "t"], identifier: number < 3 ? "job" : "bad")
        dead.insert(id)
        try await host.request(id, is: "failed")
      }
      let listed = try await pages(host, "/v1/requests?tag=t&limit=2", of: "requests").joined().compactMap { $0["id"]?.string }
      #expect(listed.count == 5 && Set(listed) == dead, "\(listed)")
      let retried = try await pages(host, "/v1/requests/retry?tag=t&limit=2", of: "retried", by: "POST")
      #expect(retried.count > 1 && Set(retried.joined().compactMap(\.string)) == dead, "\(retried)")
      for id in dead { try await host.request(id, is: "failed") }
      let discarded = try await pages(host, "/v1/requests/discard?tag=t&limit=2", of: "discarded", by: "POST")
      #expect(discarded.count > 1 && Set(discarded.joined().compactMap(\.string)) == dead, "\(discarded)")
    }
  }

  @Test("requests are cancelled by tag part by part: those of the fleet, then all of the host's own")
  func cancelledInParts() async throws {
    try await withServer { _, host in
      for identifier in ["job", "job", "job", "here", "here"] {
        _ = try await host.submit("x", ["--after", "1h", "--tag", "t"], identifier: identifier)
      }
      let first = try await ask(host, "DELETE", "/v1/requests?tag=t&limit=2").json()
      #expect(first["cancelled"]?.integer == 2)
      let next = try #require(first["next"]?.string)
      let other = try await ask(host, "DELETE", "/v1/requests?tag=u&limit=2&after=\(next)")
      #expect(other.status == 400 && other.body.contains("the cancelling of requests"), "\(other)")
      let last = try await ask(host, "DELETE", "/v1/requests?tag=t&limit=2&after=\(next)").json()
      #expect(last["cancelled"]?.integer == 3 && last["next"] == nil, "\(last)")
      let again = try await host.cli("tasks", "cancel", "--tag", "t", "--json")
      #expect(again.output == "{\"cancelled\":0}\n", "\(again)")
    }
  }

  @Test("a launch of an identifier of the fleet, of which this host holds no request, makes none of the host's own")
  func launch() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      for count in 0..<2 {
        let refused = try await host.cli("simulate", "launch", "job")
        #expect(refused.status == 6 && refused.errors.contains("submit one with taskhost submit job"), "\(refused)")
        #expect(try await host.json("tasks", "list", "identifier:job")["requests"]?.array.count == count)
        // One that waits in the database is not held here.
        if count == 0 { _ = try await FleetGround.submit(host, "--after", "1h") }
      }
      #expect(try await host.cli("simulate", "launch", "here").status == 0)
    }
  }

  @Test("an event that wakes requests of the fleet alone is not counted as dropped")
  func events() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      let id = try await FleetGround.submit(host, "--on-event", "deploy")
      #expect(try await host.json("notify", "deploy")["woken"]?.integer == 1)
      try await host.request(id, is: "succeeded")
      #expect(try await host.json("notify", "nothing")["dropped"]?.integer == 1)
      let counters = try await host.json("status")["counters"]
      #expect(counters?["events_received"]?.integer == 2 && counters?["events_dropped"]?.integer == 1, "\(counters as Any)")
    }
  }

  @Test("a database that has no tables leaves the lists what the host has, and the list and its page say so")
  func noTables() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      let own = try await host.submit("x", ["--after", "1h"], identifier: "here")
      try await host.request(try await FleetGround.submit(host), is: "succeeded")
      try fleet.server.run("ALTER SCHEMA taskhost RENAME TO away", on: fleet.address)
      for path in ["/v1/requests?limit=10", "/v1/runs?limit=10", "/v1/transfers?limit=10"] {
        let list = try await ask(host, "GET", path)
        #expect(list.status == 200 && (try? list.json())?["incomplete"]?.string != nil, "\(path): \(list)")
        #expect(path.hasPrefix("/v1/requests") == list.body.contains(own), "\(path): \(list)")
      }
      for path in ["/ui/requests", "/ui/runs", "/ui/requests?part=live"] {
        let page = try await host.page("GET", path)
        #expect(page.status == 200 && page.text.contains("Incomplete: "), "\(path): \(page)")
      }
      #expect(try await host.page("GET", "/").text.contains("what the fleet has"))
      try fleet.server.run("ALTER SCHEMA away RENAME TO taskhost", on: fleet.address)
    }
  }
}
