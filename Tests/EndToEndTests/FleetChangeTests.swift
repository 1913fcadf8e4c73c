import Foundation
import TestSupport
import Testing

/// Changes to requests of a fleet, from whichever host.
@Suite("Fleet: changes", .timeLimit(.minutes(10)))
struct FleetChangeTests {
  private func withHosts(job: String, _ body: (FleetGround, HostProcess, HostProcess, LineProgram) async throws -> Void) async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      try await body(fleet, first, second, lines)
    }
  }

  @Test("an event that one host hears wakes what waits for it in the fleet, with the event's payload, once or again and again")
  func events() async throws {
    try await withHosts(job: "echo \"$TASKHOST_REQUEST_ID $(cat)\" > @PIPE@") { _, first, second, lines in
      let once = try await FleetGround.submit(first, "--on-event", "deploy", "--payload", "1")
      let often = try await FleetGround.submit(first, "--on-event", "deploy", "--every-event", "--payload", "2")
      for host in [first, second] {
        let why = try await host.cli("tasks", "why", once)
        #expect(why.status == 0 && why.output.contains("waits for the event deploy"), "\(why)")
      }
      let heard = try await second.json("notify", "deploy", "--payload", "3")
      #expect(heard["woken"]?.integer == 2, "\(heard)")
      #expect(try Set([lines.line(), lines.line()]) == ["\(once) 3", "\(often) 3"])
      try await first.request(once, is: "succeeded")
      try await first.request(often, is: "pending")
      #expect(try await first.json("notify", "deploy")["woken"]?.integer == 1)
      #expect(try lines.line() == "\(often) 2", "without a payload of its own, the event leaves the submitted one")
      #expect(try await first.json("notify", "nothing")["dropped"]?.integer == 1)
    }
  }

  @Test("an event wakes more requests than the database gives at once, and says how many")
  func manyWaiting() async throws {
    try await FleetGround().withHost { host in
      #expect(try await host.cli("pause", "identifier:job").status == 0)
      let one = "{\"identifier\":\"job\",\"event\":\"deploy\"}"
      let array = "[\(Array(repeating: one, count: 700).joined(separator: ","))]"
      for _ in 0..<2 { #expect(try await host.post("/v1/requests", array).status == 201) }
      let woken = try await host.json("notify", "deploy")
      #expect(woken["woken"]?.integer == 1400, "\(woken)")
    }
  }

  @Test("an event that comes while another host runs the request makes it run once more")
  func eventDuringRun() async throws {
    let job = "echo \"begun @HOST@\" > @PIPE@; read line < @PIPE@.go; echo ended > @PIPE@"
    try await withHosts(job: job) { fleet, first, second, lines in
      guard mkfifo(fleet.pipe + ".go", 0o600) == 0 else { throw TestFailure("mkfifo") }
      _ = try await FleetGround.submit(first, "--on-event", "deploy", "--every-event")
      #expect(try await first.json("notify", "deploy")["woken"]?.integer == 1)
      let begun = try lines.line()
      let other = begun == "begun a" ? second : first
      #expect(try await other.cli("notify", "deploy").status == 0)
      func go() async throws {
        let path = fleet.pipe + ".go"
        try await onThread { try "go\n".write(toFile: path, atomically: false, encoding: .utf8) }
      }
      try await go()
      #expect(try lines.line() == "ended")
      #expect(try lines.line().hasPrefix("begun"))
      try await go()
      #expect(try lines.line() == "ended")
    }
  }

  @Test("a submission replaces or updates the request that holds its unique key")
  func conflicts() async throws {
    try await withHosts(job: "cat > @PIPE@; echo > @PIPE@") { _, first, second, lines in
      let held = try await FleetGround.submit(first, "--key", "k", "--on-conflict", "replace", "--after", "1h", "--payload", "1")
      let updated = try await second.json("submit", "job", "--key", "k", "--on-conflict", "update", "--after", "2h", "--payload", "2")
      #expect(updated["id"]?.string == held && updated["disposition"]?.string == "updated", "\(updated)")
      #expect(try await first.json("tasks", "show", held)["payload"]?.integer == 2)
      let replaced = try await second.json(
        "submit", "job", "--key", "k", "--on-conflict", "replace", "--payload", "3", "--idempotency-key", "i")
      #expect(replaced["disposition"]?.string == "replaced", "\(replaced)")
      #expect(try lines.line() == "3")
      try await first.request(held, is: "cancelled")
      let again = try await first.json(
        "submit", "job", "--key", "k", "--on-conflict", "replace", "--payload", "3", "--idempotency-key", "i")
      #expect(again["id"]?.string == replaced["id"]?.string && again["repeated"]?.bool == true, "\(again)")
      let refused = try await first.cli("submit", "job", "--jitter", "1m")
      #expect(refused.status == 6 && refused.errors.contains("jitter"), "\(refused)")
    }
  }

  @Test("waiting requests are postponed, paused, resumed and cancelled, and dead letters retried and discarded, one by one and together")
  func many() async throws {
    try await withHosts(job: "echo \"$TASKHOST_ATTEMPT\" > @PIPE@; exit 75") { _, first, second, lines in
      let late = try await FleetGround.submit(first, "--after", "1h", "--tag", "t")
      let snoozed = try await second.json("tasks", "snooze", late, "--for", "3h")
      #expect(snoozed["id"]?.string == late, "\(snoozed)")
      #expect(try await second.cli("tasks", "cancel", late).status == 0)
      #expect(try await first.json("tasks", "show", late)["state"]?.string == "cancelled")
      var dead: [String] = []
      for _ in 0..<3 {
        dead.append(try await FleetGround.submit(first))
        #expect(try [lines.line(), lines.line()] == ["1", "2"])
        try await second.request(dead.last ?? "", is: "failed")
      }
      #expect(try await first.cli("tasks", "discard", dead[0]).status == 0)
      #expect(try await second.json("tasks", "show", dead[0])["state"]?.string == "cancelled")
      let retried = try await second.json("tasks", "retry", "--all", "--identifier", "job")
      #expect(Set(retried["retried"]?.array.compactMap(\.string) ?? []) == Set(dead.dropFirst()), "\(retried)")
      for _ in 0..<4 { _ = try lines.line() }
      for id in dead.dropFirst() { try await first.request(id, is: "failed") }
      let discarded = try await first.json("tasks", "discard", "--all", "--identifier", "job")
      #expect(discarded["discarded"]?.array.count == 2, "\(discarded)")
      for number in 0..<3 { _ = try await FleetGround.submit(first, "--after", "1h", "--tag", "t\(number % 2)") }
      let cancelled = try await second.json("tasks", "cancel", "--filter", "identifier:job tag:t0", "--yes")
      #expect(cancelled["changes"]?.integer == 2, "\(cancelled)")
    }
  }

  @Test("a cancel of what runs is answered as done, however soon the run ends by it")
  func cancelled() async throws {
    try await withHosts(job: "echo up > @PIPE@; exec sleep 600") { _, first, second, lines in
      for host in [first, first, second, second] {
        let id = try await FleetGround.submit(host)
        #expect(try lines.line() == "up")
        let answer = try await first.cli("tasks", "cancel", id)
        #expect(answer.status == 0 && answer.output.contains(id), "\(answer)")
        try await second.request(id, is: "cancelled")
      }
      let audit = try await first.cli("audit")
      #expect(audit.output.split(separator: "\n").count { $0.contains("cancelRequest") } == 4, "\(audit)")
    }
  }

  @Test("a bulk action says which requests it could not change, because somebody else was changing them")
  func locked() async throws {
    try await withHosts(job: "echo ran > @PIPE@; exit 1") { fleet, first, second, lines in
      var dead: [String] = []
      for _ in 0..<2 {
        dead.append(try await FleetGround.submit(first))
        #expect(try lines.line() == "ran")
        try await first.request(dead.last ?? "", is: "failed")
      }
      let late = try await FleetGround.submit(first, "--after", "1h")
      let changing = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
      try changing.say("BEGIN; SELECT count(*) FROM (SELECT FROM taskhost.request ORDER BY id DESC LIMIT 2 FOR UPDATE) r;")
      #expect(try changing.line() == "2")
      for (action, more, done, refused) in [
        ("snooze", ["--for", "3h"], [], [late]), ("retry", [], [dead[0]], [dead[1]]),
      ] {
        let result = try await second.cli(["tasks", action, "--filter", "identifier:job", "--yes", "--json"] + more)
        let json = try result.json()
        #expect(json["done"]?.array.compactMap(\.string) == done, "\(result)")
        #expect(json["matched"]?.integer == Int64(done.count + refused.count), "\(result)")
        #expect(json["refused"]?.array.compactMap { $0["id"]?.string } == refused, "\(result)")
        #expect(result.output.contains("has just changed, or a host of the fleet has it"), "\(result)")
      }
      try changing.say("ROLLBACK; SELECT 2;")
      #expect(try changing.line() == "2")
      let discarded = try await second.json("tasks", "discard", "--filter", "id:\(dead[1])", "--yes")
      #expect(discarded["changes"]?.integer == 1, "\(discarded)")
    }
  }

  @Test("a dead letter whose unique key another request has is not retried, and can be discarded all the same")
  func heldKey() async throws {
    try await withHosts(job: "echo ran > @PIPE@; exit 1") { fleet, first, second, lines in
      let dead = try await FleetGround.submit(first, "--key", "k", "--on-conflict", "keep")
      #expect(try lines.line() == "ran")
      try await first.request(dead, is: "failed")
      // Somebody is about to take the key: whether he does is not known, and nobody waits for that.
      let taking = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
      try taking.say("BEGIN; SELECT 1 FROM taskhost.submit('job', unique_key => 'k', delay_ms => 9999999);")
      #expect(try taking.line() == "1")
      let undecided = try await first.cli("tasks", "retry", "--all", "--identifier", "job")
      #expect(undecided.status == 6 && undecided.errors.contains("another transaction in the fleet's database"), "\(undecided)")
      try taking.say("ROLLBACK; SELECT 2;")
      #expect(try taking.line() == "2")
      let holder = try await FleetGround.submit(second, "--key", "k", "--on-conflict", "keep", "--after", "1h")
      #expect(holder != dead)
      let none = try await second.cli("tasks", "retry", "--all", "--identifier", "job")
      #expect(none.status == 6 && none.errors.contains("\(dead): another request now holds the unique key"), "\(none)")
      let refused = try await first.cli("tasks", "retry", dead)
      #expect(refused.status == 6 && refused.errors.contains("unique key"), "\(refused)")
      #expect(try await first.cli("tasks", "discard", dead).status == 0)
    }
  }
}
