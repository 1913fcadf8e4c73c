import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// What one host of a fleet shows of the others, and does there.
@Suite("Fleet: one view", .timeLimit(.minutes(10)))
struct FleetViewTests {
  /// Two hosts of which the second alone takes requests of the fleet.
  private func withWorker(job: String, _ body: (FleetGround, HostProcess, HostProcess) async throws -> Void) async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job) { first, second in
      try await FleetGround.joined(first, second)
      #expect(try await fleet.taskhost("drain", "a").status == 0)
      try await first.current.line(with: "it takes nothing more of it")
      try await body(fleet, first, second)
    }
  }

  @Test("a database that runs what it has and refuses what is submitted is a problem, until it takes a submission")
  func refused() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHost { host in
      func problems() async throws -> [String] { try await host.json("status")["problems"]?.array.compactMap { $0["kind"]?.string } ?? [] }
      try fleet.server.run("DROP INDEX taskhost.request_key", on: fleet.address)
      #expect(try await host.cli("submit", "job", "--key", "k", "--on-conflict", "keep").status == 6)
      #expect(try await problems().contains("fleet"))
      #expect(try await fleet.taskhost("init").status == 0)
      _ = try await FleetGround.submit(host, "--key", "k", "--on-conflict", "keep")
      #expect(try await !problems().contains("fleet"))
    }
  }

  @Test("submit --wait follows a run of another host, and exits with its outcome")
  func waiting() async throws {
    try await withWorker(job: "exit $(cat)") { _, first, _ in
      let good = try await first.cli("submit", "job", "--payload", "0", "--wait", "--json")
      #expect(good.status == 0, "\(good)")
      #expect(try JSON(parsing: good.output)["run"]?["outcome"]?.string == "succeeded", "\(good)")
      // It ran elsewhere, and the status says so.
      let activity = try await first.json("status")["tasks"]?.array.first { $0["identifier"]?.string == "job" }
      #expect(activity?["last"]?.string == "succeeded", "\(activity as Any)")
      let bad = try await first.cli("submit", "job", "--payload", "1", "--wait")
      #expect(bad.status == 1, "\(bad)")
    }
  }

  @Test("fleet status --metrics has the queue and the hosts as Prometheus reads them")
  func metrics() async throws {
    try await withWorker(job: "exit 0") { fleet, first, _ in
      let later = try await FleetGround.submit(first, "--after", "1h")
      try await first.request(try await FleetGround.submit(first), is: "succeeded")
      let metrics = try await fleet.taskhost("status", "--metrics")
      #expect(metrics.status == 0, "\(metrics)")
      let lines = metrics.output.split(separator: "\n")
      for line in [
        "# TYPE taskhost_fleet_requests gauge", "taskhost_fleet_requests{state=\"not_due\"} 1",
        "taskhost_fleet_requests{state=\"ready\"} 0", "taskhost_fleet_hosts{state=\"alive\"} 1",
        "taskhost_fleet_hosts{state=\"draining\"} 1", "taskhost_fleet_needs_person 0",
      ] { #expect(lines.contains(line[...]), "\(line) of \(metrics)") }
      #expect(!metrics.output.contains("oldest_ready") && metrics.output.last == "\n")
      #expect(try await fleet.taskhost("status", "--metrics", "--json").status == 2)
      let full = try await Program.run(
        "/bin/sh", ["-c", "\"$0\" fleet status --metrics --url \"$1\" >/dev/full", try BuiltProgram.taskhost, fleet.address])
      #expect(full.status == 1 && full.errors.contains("the answer could not be written: No space left on device"), "\(full)")
      #expect(try await first.cli("tasks", "cancel", later).status == 0)
    }
  }

  @Test("lists have the requests and runs of all hosts, page by page")
  func lists() async throws {
    try await withWorker(job: "exit 0") { _, first, second in
      var ids: Set<String> = []
      for number in 0..<5 {
        let id = try await first.submit("result 0", [], identifier: number == 0 ? "here" : "job")
        ids.insert(id)
        try await first.request(id, is: "succeeded")
      }
      for host in [first, second] {
        let listed = try await host.json("tasks", "list", "identifier:job")["requests"]?.array ?? []
        #expect(listed.count == 4 && listed.allSatisfy { $0["state"]?.string == "succeeded" }, "\(listed)")
        let runs = try await host.json("runs", "list", "--identifier", "job")["runs"]?.array ?? []
        #expect(runs.count == 4 && runs.allSatisfy { $0["outcome"]?.string == "succeeded" }, "\(runs)")
        let shown = try await host.json("runs", "show", runs[0]["id"]?.string ?? "")
        #expect(shown["request"]?.string == runs[0]["request"]?.string, "\(shown)")
        #expect(runs.allSatisfy { $0["host"]?.string == "b" } && shown["host"]?.string == "b", "\(runs)")
        #expect(try await host.cli("runs", "list", "--identifier", "job").output.contains("HOST"))
      }
      // The host's own request is among them.
      var seen: [String] = []
      var path: String? = "/v1/requests?limit=2"
      while let next = path {
        let socket = first.socket
        let page = try await onThread { try SocketClient(socket).request("GET", next).json() }
        seen += page["requests"]?.array.compactMap { $0["id"]?.string } ?? []
        path = page["next"]?.string.map { "/v1/requests?limit=2&after=\($0)" }
      }
      #expect(seen.count == 5 && Set(seen) == ids, "\(seen) \(ids)")
    }
  }

  @Test("a run that goes on at another host is listed and shown here, with its progress and its log, which logs -f follows to its end")
  func progress() async throws {
    let job = """
      read -r run; echo '{"type":"log","run":1,"level":"info","message":"before"}'
      echo '{"type":"progress","run":1,"completed":3,"total":10,"unit":"files"}'
      read -r line < @PIPE@.go; echo '{"type":"log","run":1,"level":"info","message":"after"}'; echo '{"type":"result","run":1,"result":"success"}'; read -r end
      """
    let fleet = try await FleetGround(lease: "10s")
    guard mkfifo(fleet.pipe + ".go", 0o600) == 0 else { throw TestFailure("mkfifo") }
    try await fleet.withHosts(job: job, keys: "persistent = true") { first, second in
      try await FleetGround.joined(first, second)
      #expect(try await fleet.taskhost("drain", "a").status == 0)
      try await first.current.line(with: "it takes nothing more of it")
      let id = try await FleetGround.submit(first)
      let path = "/v1/runs?request=\(id)"
      let socket = first.socket
      let run = try await onThread {
        // It is told of after two seconds.
        let end = ContinuousClock.now + .seconds(30)
        while true {
          let runs = try SocketClient(socket).request("GET", path).json()["runs"]?.array ?? []
          if let run = runs.first, run["progress"] != nil { return run }
          guard ContinuousClock.now < end else { throw TestFailure("no progress: \(runs)") }
          usleep(50_000)
        }
      }
      #expect(run["progress"]?["completed"]?.integer == 3 && run["outcome"]?.string == nil, "\(run)")
      let runID = try #require(run["id"]?.string)
      #expect(try await first.json("runs", "show", runID)["progress"]?["total"]?.integer == 10)
      #expect(try await first.json("runs", "logs", runID)["lines"]?.array.compactMap { $0["message"]?.string } == ["before"])
      let follower = try first.startCLI("runs", "logs", "-f", runID)
      let told = try await Program.run("/usr/bin/timeout", ["20", "/bin/sh", "-c", "echo go > \"$0\"", fleet.pipe + ".go"])
      #expect(told.status == 0)
      try await first.request(id, is: "succeeded")
      let followed = try await follower.result()
      let lines = followed.output.split(separator: "\n")
      #expect(followed.status == 0 && lines.count == 2 && lines[0].hasSuffix("before") && lines[1].hasSuffix("after"), "\(followed)")
      let ended = try await first.runs(of: id)
      #expect(ended.count == 1 && ended[0]["outcome"]?.string == "succeeded", "\(ended)")
    }
  }

  @Test("a run of another host is cancelled from here")
  func cancelling() async throws {
    try await withWorker(job: "echo begun > @PIPE@; exec sleep 600") { fleet, first, _ in
      let lines = try fleet.reader()
      let id = try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try lines.line() == "begun")
      let asked = try await first.cli("tasks", "cancel", id)
      #expect(asked.status == 0, "\(asked)")
      try await first.request(id, is: "cancelled")
      #expect(try await first.runs(of: id).map { $0["outcome"]?.string } == ["cancelled"])
      let again = try await first.cli("tasks", "cancel", id)
      #expect(again.status == 6 && again.errors.contains("already cancelled"), "\(again)")
    }
  }

  @Test("why says which host has a request, why no host takes it, or when it is due")
  func why() async throws {
    try await withWorker(job: "echo begun > @PIPE@; exec sleep 600") { fleet, first, second in
      let lines = try fleet.reader()
      let running = try (await first.cli("submit", "job"), await first.cli("submit", "job")).0.output
        .trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try [lines.line(), lines.line()] == ["begun", "begun"])
      #expect(try await first.json("tasks", "why", running)["gates"]?.array.first?.string == "the host b has it")
      let late = try await first.cli("submit", "job", "--after", "1h").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try await second.json("tasks", "why", late)["gates"]?.array.first?.string?.contains("due in") == true)
      let waiting = try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)
      let why = try await second.json("tasks", "why", waiting)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.count == 2 && why[0] == "a: it drains for the fleet" && why[1].contains("b: the plugin is busy"), "\(why)")
      // Nothing begins there meanwhile, and the reason becomes another one.
      #expect(try await second.cli("pause", "identifier:job", "--why", "the disk is full").status == 0)
      for id in try await first.json("tasks", "list", "--state", "running")["requests"]?.array.compactMap({ $0["id"]?.string }) ?? [] {
        #expect(try await first.cli("tasks", "cancel", id).status == 0)
      }
      let end = ContinuousClock.now + .seconds(40)
      while !(try await first.cli("tasks", "why", waiting).output.contains("b: its work is paused")) {
        guard ContinuousClock.now < end else { throw TestFailure(try await first.cli("tasks", "why", waiting).output) }
        try await Task.sleep(for: .milliseconds(200))
      }
      // Beside those of the host itself.
      let own = try await first.cli("submit", "here", "--after", "1h").output.trimmingCharacters(in: .whitespacesAndNewlines)
      let forecast = try await first.json("forecast", "--hours", "2")
      let runs = forecast["entries"]?.array.compactMap { $0["request"]?.string } ?? []
      #expect(runs.contains(late) && runs.contains(own), "\(forecast)")
      #expect(try await first.json("tasks", "cancel", "--identifier", "job")["cancelled"]?.integer == 2)
      try await first.request(running, is: "cancelled")
    }
  }
}
