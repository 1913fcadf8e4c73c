import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// Hosts that share one queue on a real PostgreSQL server.
@Suite("Fleet", .timeLimit(.minutes(10)))
struct FleetTests {
  @Test("any host submits, any host runs, and each request runs once")
  func sharing() async throws {
    let fleet = try await FleetGround(lease: "10s")
    // The hosts have the url of one database, and each a name of its own.
    try await fleet.withHosts(job: "echo \"$TASKHOST_REQUEST_ID @HOST@\" > @PIPE@; sleep 0.4", slots: 1) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      // At once: what programs submit one by one, the first host could do in between.
      let all = try await first.post("/v1/requests", "[\(Array(repeating: "{\"identifier\":\"job\"}", count: 12).joined(separator: ","))]")
      let ids = Set(try all.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? [])
      #expect(ids.count == 12)
      var seen: [String: String] = [:]
      for _ in 0..<12 {
        let words = try lines.line().split(separator: " ").map(String.init)
        #expect(seen.updateValue(words[1], forKey: words[0]) == nil, "\(words) ran twice")
      }
      #expect(Set(seen.keys) == ids)
      #expect(Set(seen.values) == ["a", "b"])
      let shown = try await second.request(ids.first ?? "", is: "succeeded")
      #expect(shown["identifier"]?.string == "job")
      let status = try await fleet.json("status")
      #expect(status["hosts"]?.array.map { $0["state"]?.string } == ["alive", "alive"])
      #expect(status["hosts"]?.array.first?["labels"]?.array.first?.string == "test")
      #expect(try await first.terminate().status == 0)
      #expect(try await second.terminate().status == 0)
      let left = try await fleet.json("status")
      #expect(left["ready"]?.integer == 0 && left["held"]?.integer == 0, "\(left)")
    }
  }

  @Test("an identifier gets no more requests than fleet.max_pending, from any host and in any way")
  func full() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "exit 0") { first, second in
      for (host, name) in [(first, "a"), (second, "b")] {
        try host.configure(fleet.configuration(name, job: "exit 0").replacing("[fleet]", with: "[fleet]\nmax_pending = 5"))
      }
      try await FleetGround.joined(first, second)
      var ids: [String] = []
      let named = ["--key", "n", "--on-conflict", "replace", "--idempotency-key", "i"]
      for number in 0..<3 {
        let answer = try await first.cli(["submit", "job", "--after", "1h"] + (number == 1 ? named : []))
        #expect(answer.status == 0, "\(answer)")
        ids.append(answer.output.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      // These go by the scheduler, and count once all the same.
      let two = ["x", "y"].map { #"{"identifier":"job","delay_ms":3600000,"unique_key":"\#($0)","on_conflict":"replace"}"# }
      let last = try await first.post("/v1/requests", "[\(two.joined(separator: ","))]")
      #expect(last.status == 201, "\(last)")
      for more in [[], ["--follows", ids[0]], ["--key", "k", "--on-conflict", "replace"]] {
        let refused = try await first.cli(["submit", "job", "--after", "1h"] + more)
        #expect(
          refused.status != 0
            && refused.errors.contains(
              "job has 5 live requests in the fleet, and with 1 more it would have more than 5 (fleet.max_pending)"),
          "\(refused)")
      }
      func full(_ host: HostProcess) async throws -> [JSON] {
        try await host.json("status")["problems"]?.array.filter { $0["kind"]?.string == "full" } ?? []
      }
      let problem = try await full(first)
      #expect(problem.map { $0["subject"]?.string } == ["job"])
      #expect(problem.first?["message"]?.string?.contains("fleet.max_pending = 5") == true, "\(problem)")
      #expect(try await first.cli("tasks", "cancel", ids[0]).status == 0)
      #expect(try await full(first).isEmpty)
      #expect(try await second.cli("submit", "job", "--after", "1h").status == 0)
      #expect(try await second.cli("submit", "job", "--after", "1h").status != 0)
      // What adds nothing finds its way.
      for (host, same) in [
        (first, named), (second, named), (first, Array(named.prefix(4))), (second, ["--key", "n", "--on-conflict", "keep"]),
      ] {
        let answer = try await host.cli(["submit", "job", "--after", "1h"] + same)
        #expect(answer.status == 0 && (!same.contains("i") || answer.output.contains(ids[1])), "\(same): \(answer)")
      }
    }
  }

  @Test("what several clients submit to an idle host is answered at once, not when it looks by itself")
  func prompt() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      let socket = host.socket
      try await onThread {
        let clients = try (0..<2).map { _ in try SocketClient(socket, limit: .seconds(2)) }
        let body = #"{"identifier":"job","delay_ms":3600000}"#
        for _ in 0..<2000 {
          for client in clients {
            try client.send("POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
          }
          for client in clients { #expect(try client.answer().status == 201) }
        }
      }
    }
  }

  @Test("needs of any length are taken, and wait for a host that has the resources")
  func long() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      let names = (0..<16).map { number in (0..<240).map { _ in String(Int.random(in: 0..<36), radix: 36) }.joined() + "\(number)" }
      let resources = names.map { "\"\($0)\":1" }.joined(separator: ",")
      // The host is idle: it would claim what it adds at once.
      let taken = try await host.post("/v1/requests", "{\"identifier\":\"job\",\"resources\":{\(resources)}}")
      #expect(taken.status == 201, "\(taken)")
      try await host.request(try await FleetGround.submit(host), is: "succeeded")
      let why = try await host.cli("tasks", "why", try #require(taken.json()["id"]?.string))
      #expect(why.status == 0 && why.output.contains("no resource \"\(names.sorted()[0])\""), "\(why)")
    }
  }

  @Test("what ends while another transaction makes the lane that it needs is recorded after it, and holds up nothing else")
  func locked() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let lines = try fleet.reader()
    let job = "[ \"$TASKHOST_ATTEMPT\" = 2 ] || [ \"$(cat)\" != '\"twice\"' ] || { echo failed > @PIPE@; exit 75; }"
    try await fleet.withHost(job: job) { host in
      let making = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
      let needs = #"{"last":"a","prefer":"last_host"}"#
      try making.say("BEGIN; SELECT taskhost.lane_of('job', '\(needs)', NULL) > 0;")
      #expect(try making.line() == "t")
      let waiting = try await FleetGround.submit(host, "--prefer", "last_host", "--payload", "\"twice\"")
      #expect(try lines.line() == "failed")
      for _ in 0..<3 { try await host.request(try await FleetGround.submit(host), is: "succeeded") }
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.claim", on: fleet.address) == "1")
      try making.say("ROLLBACK;")
      try await host.request(waiting, is: "succeeded")
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.lane WHERE gates = '\(needs)'", on: fleet.address) == "1")
    }
  }

  @Test("a host that was in its fleet launches and does its own work while the database has no fleet, as before a restore")
  func restored() async throws {
    let fleet = try await FleetGround()
    try await fleet.withHost { host in
      #expect(try await host.terminate().status == 0)
      try fleet.server.run("ALTER SCHEMA taskhost RENAME TO away", on: fleet.address)
      try await host.start()
      #expect(try await host.cli("submit", "here", "--wait").status == 0)
      try fleet.server.run("ALTER SCHEMA away RENAME TO taskhost", on: fleet.address)
      try await host.current.line(with: "joined the fleet")
      try await host.request(try await FleetGround.submit(host), is: "succeeded")
    }
  }

  @Test("days of the history that are missing are made as soon as an end needs them")
  func days() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      try await host.request(try await FleetGround.submit(host), is: "succeeded")
      // As for a server whose clock was set ahead by a week.
      try fleet.server.run(
        "DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class WHERE relname ~ '^(ended|run)_[0-9]+$' AND relkind = 'r' LOOP "
          + "EXECUTE 'DROP TABLE taskhost.' || t; END LOOP; END $$", on: fleet.address)
      try await host.request(try await FleetGround.submit(host), is: "succeeded")
    }
  }

  @Test("an array with an idempotency key of another submission adds nothing, and the refusal names the element")
  func atomic() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "exit 0") { first, _ in
      try await FleetGround.joined(first)
      let plain = #"{"identifier":"job","delay_ms":3600000}"#
      let named = #"{"identifier":"job","delay_ms":3600000,"idempotency_key":"A"}"#
      let other = #"{"identifier":"job","delay_ms":7200000,"idempotency_key":"A"}"#
      for array in [[plain, named, other], [named, plain, other]] {
        let refused = try await first.post("/v1/requests", "[\(array.joined(separator: ","))]")
        #expect(refused.status == 409 && (try? refused.json())?["error"]?["field"]?.string == "[2].idempotency_key", "\(refused)")
      }
      #expect(try await first.post("/v1/requests", "[\(plain),\(named)]").status == 201)
      #expect(try await first.post("/v1/requests", "[\(plain),\(other)]").status == 409)
      #expect(try await first.post("/v1/requests", "[\(plain),\(named)]").status == 201)
      let all = try await first.json("tasks", "list", "identifier:job")["requests"]?.array ?? []
      #expect(all.count == 3, "two without a key, and one with it: \(all)")
    }
  }

  @Test("what a killed host held runs on another one after the lease")
  func takeover() async throws {
    let fleet = try await FleetGround()
    let job = "[ @HOST@ = b ] || { echo \"begun @HOST@\" > @PIPE@; sleep 600; }; echo \"begun @HOST@\" > @PIPE@"
    try await fleet.withHosts(job: job) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      let id = try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try lines.line() == "begun a")
      try await FleetGround.joined(second)
      await first.kill()
      #expect(try lines.line() == "begun b")
      _ = try await second.request(id, is: "succeeded")
      let hosts = try await fleet.json("hosts")
      #expect(hosts["hosts"]?.array.map { $0["state"]?.string } == ["fenced", "alive"])
      let rows = try await fleet.taskhost("hosts").output.split(separator: "\n")
      #expect(rows.count == 2 && rows[0].hasPrefix("b  alive") && rows[0].contains("  since "), "\(rows)")
      #expect(rows.count == 2 && rows[1].hasPrefix("a  fenced") && rows[1].contains("  lease ended "), "\(rows)")
    }
  }

  @Test("the runs of a frozen host are dead before another host has their requests")
  func frozen() async throws {
    let fleet = try await FleetGround()
    // The first run never ends by itself; another one says whether it is alive.
    let job = "[ @HOST@ = b ] || { echo \"begun $$\" > @PIPE@; sleep 600; }; echo b > @PIPE@"
    try await fleet.withHosts(job: job) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      _ = try await first.cli("submit", "job")
      let words = try lines.line().split(separator: " ")
      let process = try #require(words.last.flatMap { pid_t($0) })
      try await FleetGround.joined(second)
      first.signal(SIGSTOP)
      #expect(try lines.line() == "b")
      #expect(!Processes.all().contains { $0.id == process }, "the run of the frozen host goes on")
      first.signal(SIGCONT)
      try await first.current.line(with: "the lease in the fleet has ended")
      try await first.current.line(with: "joined the fleet again")
      let hosts = try await fleet.json("hosts")
      #expect(hosts["hosts"]?.array.map { $0["state"]?.string } == ["fenced", "alive", "alive"])
    }
  }

  @Test("while a list waits for the database, other clients get their answers")
  func waiting() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      let id = try await FleetGround.submit(host)
      try await host.request(id, is: "succeeded")
      let session = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
      try session.say("BEGIN; LOCK TABLE taskhost.request; SELECT 'locked';")
      #expect(try session.line() == "locked")
      let list = try host.startCLI("tasks", "list", "--identifier", "job")
      // More connections than the host has threads for them: some share the list's.
      for _ in 0..<8 { #expect(try await host.cli("plugins", "list").status == 0) }
      #expect(list.isRunning)
      try session.say("COMMIT;")
      session.closeInput()
      _ = try session.end()
      let listed = try await list.result()
      #expect(listed.status == 0 && listed.output.contains(id), "\(listed)")
    }
  }

  @Test("while the database is away, the host's own work goes on, and submissions for the fleet are refused with the reason")
  func away() async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try host.configure(fleet.configuration("a", job: "echo done > @PIPE@"))
      let lines = try fleet.reader()
      try await FleetGround.joined(host)
      try await host.request(try await FleetGround.submit(host), is: "succeeded")
      #expect(try lines.line() == "done")
      let ran = try #require(try await host.json("runs", "list")["runs"]?.array.first?["id"]?.string)
      _ = try await FleetGround.submit(host, "--key", "k", "--on-conflict", "keep", "--after", "1h")
      try fleet.server.kill()
      // Nobody may believe that there is none.
      for arguments in [["tasks", "show", "job/k"], ["tasks", "cancel", "job/k"], ["tasks", "why", "job/k"], ["runs", "show", ran]] {
        let unknown = try await host.cli(arguments)
        #expect(unknown.status == 6 && unknown.errors.contains("the fleet's database cannot be reached"), "\(arguments): \(unknown)")
      }
      let paused = try await host.cli("pause", "identifier:job", "--dry-run", "--fleet")
      #expect(paused.status == 6, "\(paused)")
      let refused = try await host.cli("submit", "job")
      #expect(refused.status == 6, "\(refused)")
      #expect(refused.errors.contains("the fleet takes nothing now: the fleet's database cannot be reached"), "\(refused)")
      let own = try await host.cli("submit", "here", "--wait")
      #expect(own.status == 0, "\(own)")
      let status = try await host.json("status")
      #expect(status["problems"]?.array.contains { $0["kind"]?.string == "fleet" } == true, "\(status)")
      #expect(try await host.json("tasks", "list")["requests"]?.array.map { $0["identifier"]?.string } == ["here"])
      // Nobody may believe that nothing was to be cancelled.
      let bulk = try await host.cli("tasks", "cancel", "--filter", "tag:night", "--yes")
      #expect(bulk.status == 6 && bulk.errors.contains("the fleet's database, which may have some of these requests"), "\(bulk)")
      #expect(try await host.cli("tasks", "cancel", "--filter", "identifier:here", "--yes").status == 0)
      try fleet.server.start()
      try await host.current.line(with: "the fleet's database answers again")
      let taken = try await host.cli("submit", "job")
      #expect(taken.status == 0, "\(taken)")
      #expect(try lines.line() == "done")
    }
  }

  @Test("a failing request is tried again by the fleet, becomes a dead letter, and is retried or discarded from any host")
  func retries() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo \"$TASKHOST_ATTEMPT\" > @PIPE@; exit 75") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let id = try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try [lines.line(), lines.line()] == ["1", "2"])
      _ = try await second.request(id, is: "failed")
      for host in [first, second] {
        let letters = try await host.json("status")["problems"]?.array.filter { $0["kind"]?.string == "dead_letters" } ?? []
        #expect(letters.map { $0["subject"]?.string } == ["job"] && letters.first?["since"]?.string != nil, "\(letters)")
        #expect(try await host.cli("tasks", "list", "--problem").output.contains(id))
      }
      let retried = try await second.cli("tasks", "retry", id)
      #expect(retried.status == 0, "\(retried)")
      #expect(try lines.line() == "1")
    }
  }

  @Test("a drained host takes nothing more, and keys are unique in the fleet")
  func draining() async throws {
    let fleet = try await FleetGround()
    try await fleet.withHosts(job: "echo @HOST@ > @PIPE@; sleep 1") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let drained = try await fleet.taskhost("drain", "a")
      #expect(drained.status == 0, "\(drained)")
      try await first.current.line(with: "it takes nothing more of it")
      for _ in 0..<4 { #expect(try await first.cli("submit", "job", "--key", "k", "--on-conflict", "keep").status == 0) }
      #expect(try lines.line() == "b")
      let refused = try await fleet.taskhost("drain", "nobody")
      #expect(refused.status == 6, "\(refused)")
      let status = try await fleet.json("status")
      #expect(status["ready"]?.integer == 0, "\(status)")
      // Also when it has lost its lease and joined anew.
      #expect(try await fleet.taskhost("fence", "a", "--yes").status == 0)
      try await first.current.line(with: "joined the fleet again")
      let hosts = try await fleet.json("hosts")
      #expect(hosts["hosts"]?.array.count { $0["name"]?.string == "a" && $0["state"]?.string == "draining" } == 1, "\(hosts)")
    }
  }

  @Test("each owner of a request has a greater fencing token than the one before, and a request of one host has none")
  func fencing() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo \"${TASKHOST_FENCING_TOKEN:-none}\" > @PIPE@; exit 75") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      _ = try await first.cli("submit", "job")
      let tokens = try (0..<2).map { _ in try #require(Int(try lines.line())) }
      #expect(tokens[0] < tokens[1], "\(tokens)")
      let pipe = fleet.pipe
      try first.configure(
        fleet.configuration("a", job: "echo \"${TASKHOST_FENCING_TOKEN:-none}\" > \(pipe)").replacing("scope = \"fleet\"", with: ""))
      #expect(try await first.terminate().status == 0)
      try await first.start()
      _ = try await first.cli("submit", "job", "--wait")
      #expect(try lines.line() == "none")
    }
  }
}
