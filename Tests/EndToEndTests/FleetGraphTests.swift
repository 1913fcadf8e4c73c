import Foundation
import Glibc
import TestSupport
import Testing

/// Requests of a fleet that wait for others, wherever these run.
@Suite("Fleet: graphs", .timeLimit(.minutes(10)))
struct FleetGraphTests {
  /// Tells what it got, waits for a word if that asks for it, and fails or has an output.
  private static let job = """
    IFS= read -r line; echo "@HOST@ $line" > @PIPE@
    case "$line" in *wait*) read -r go < @PIPE@.go;; esac
    case "$line" in *fail*) test -e @PIPE@.mended || exit 1;; esac
    printf '{"%s":1}' @HOST@
    """

  /// Two hosts: requests that ask for `left` run on the first one, those that ask for `right` on the second one.
  private func withSides(_ body: (FleetGround, HostProcess, HostProcess, LineProgram) async throws -> Void) async throws {
    let fleet = try await FleetGround(lease: "10s")
    guard mkfifo(fleet.pipe + ".go", 0o600) == 0 else { throw TestFailure("mkfifo") }
    try await fleet.withHosts(job: Self.job) { first, second in
      let lines = try fleet.reader()
      for (host, name, side) in [(first, "a", "left"), (second, "b", "right")] {
        let configuration = fleet.configuration(name, job: Self.job, keys: "stdout = \"output\"")
        try host.configure(configuration.replacing("labels = [\"test\"]", with: "labels = [\"\(side)\"]"))
      }
      try await FleetGround.joined(first, second)
      try await body(fleet, first, second, lines)
    }
  }

  private static func go(_ fleet: FleetGround) async throws {
    let told = try await Program.run("/usr/bin/timeout", ["20", "/bin/sh", "-c", "echo go > \"$0\"", fleet.pipe + ".go"])
    #expect(told.status == 0, "no run waits for a word: \(told)")
  }

  private static func ids(_ answer: SocketClient.Answer) throws -> [String] {
    try answer.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? []
  }

  @Test("a request runs after its predecessors on other hosts, with their outputs, whether they end before its submission or after it")
  func outputs() async throws {
    try await withSides { fleet, first, second, lines in
      let left = try await FleetGround.submit(first, "--resource", "left", "--payload", "{\"l\":0}")
      #expect(try lines.line() == "a {\"l\":0}")
      try await second.request(left, is: "succeeded")
      let right = try await FleetGround.submit(first, "--resource", "right", "--payload", "{\"wait\":0}")
      #expect(try lines.line() == "b {\"wait\":0}")
      let last = try await FleetGround.submit(
        first, "--resource", "left", "--follows", left, "--follows", right, "--payload", "{\"own\":2}")
      #expect(try await second.json("tasks", "show", last)["state"]?.string == "blocked")
      #expect(try await second.json("tasks", "list", "--state", "blocked")["requests"]?.array.first?["id"]?.string == last)
      let why = try await second.cli("tasks", "why", last)
      #expect(why.output.contains(right), "\(why)")
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"a\":1,\"b\":1,\"own\":2}")
      try await second.request(last, is: "succeeded")
      let after = try await FleetGround.submit(second, "--resource", "right", "--follows", last)
      #expect(try lines.line() == "b {\"a\":1}")
      try await first.request(after, is: "succeeded")
    }
  }

  @Test("what follows a failure fails with it or runs all the same, as it asked for, and lives again with it; so with a cancellation")
  func failures() async throws {
    try await withSides { fleet, first, second, lines in
      let broken = try await FleetGround.submit(first, "--resource", "right", "--payload", "{\"wait\":0,\"fail\":0}")
      #expect(try lines.line() == "b {\"wait\":0,\"fail\":0}")
      let next = try await FleetGround.submit(first, "--resource", "left", "--follows", broken)
      let last = try await FleetGround.submit(second, "--resource", "right", "--follows", next)
      let anyway = try await FleetGround.submit(second, "--resource", "left", "--follows", "\(broken):ignore", "--payload", "{\"x\":0}")
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"x\":0}")
      try await first.request(anyway, is: "succeeded")
      let failed = try await first.request(last, is: "failed")
      #expect(failed["last_message"]?.string == "\(next), which must succeed first, has failed", "\(failed)")
      #expect(try await second.cli("tasks", "why", last).output.contains("tasks retry \(broken)"))
      let refused = try await second.cli("tasks", "retry", last)
      #expect(refused.status == 6 && refused.errors.contains("tasks retry \(broken)"), "\(refused)")
      let late = try await first.cli("submit", "job", "--follows", broken)
      #expect(late.status == 6 && late.errors.contains("retry it first"), "\(late)")
      _ = FileManager.default.createFile(atPath: fleet.pipe + ".mended", contents: nil)
      #expect(try await first.cli("tasks", "retry", broken).status == 0)
      #expect(try lines.line() == "b {\"wait\":0,\"fail\":0}")
      #expect(try await second.json("tasks", "show", next)["state"]?.string == "blocked")
      #expect(try await first.json("tasks", "show", last)["state"]?.string == "blocked")
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"b\":1}")
      #expect(try lines.line() == "b {\"a\":1}")
      try await first.request(last, is: "succeeded")
      let held = try await FleetGround.submit(first, "--after", "1h")
      let follower = try await FleetGround.submit(second, "--follows", held)
      #expect(try await second.cli("tasks", "cancel", held).status == 0)
      try await first.request(follower, is: "cancelled")
    }
  }

  @Test("what waits for a request and for what fails because of that has the outputs of all others, in one look")
  func whatever() async throws {
    try await withSides { fleet, first, second, lines in
      let early = try await FleetGround.submit(first, "--resource", "left", "--payload", "{\"x\":0}")
      #expect(try lines.line() == "a {\"x\":0}")
      let broken = try await FleetGround.submit(first, "--resource", "right", "--payload", "{\"wait\":0,\"fail\":0}")
      #expect(try lines.line() == "b {\"wait\":0,\"fail\":0}")
      let next = try await FleetGround.submit(second, "--follows", broken)
      let last = try await FleetGround.submit(
        second, "--resource", "left", "--follows", early, "--follows", "\(broken):ignore", "--follows", "\(next):ignore")
      try await first.request(early, is: "succeeded")
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"a\":1}")
      try await first.request(last, is: "succeeded")
      try await second.request(next, is: "failed")
    }
  }

  @Test("predecessors that failed and are retried one after the other hand on what they come to then")
  func retriedBoth() async throws {
    try await withSides { fleet, first, second, lines in
      let waiting = try await FleetGround.submit(first, "--resource", "right", "--payload", "{\"wait\":0,\"fail\":0}")
      #expect(try lines.line() == "b {\"wait\":0,\"fail\":0}")
      let other = try await FleetGround.submit(
        first, "--resource", "left", "--follows", "\(waiting):ignore", "--payload", "{\"fail\":0}")
      let last = try await FleetGround.submit(second, "--resource", "left", "--follows", waiting, "--follows", other)
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"fail\":0}")
      for id in [waiting, other, last] { try await first.request(id, is: "failed") }
      _ = FileManager.default.createFile(atPath: fleet.pipe + ".mended", contents: nil)
      #expect(try await second.cli("tasks", "retry", waiting).status == 0)
      #expect(try lines.line() == "b {\"wait\":0,\"fail\":0}")
      try await Self.go(fleet)
      try await first.request(waiting, is: "succeeded")
      #expect(try await second.json("tasks", "show", last)["state"]?.string == "failed")
      #expect(try await first.cli("tasks", "retry", other).status == 0)
      #expect(try lines.line() == "a {\"fail\":0}")
      #expect(try lines.line() == "a {\"b\":1,\"a\":1}")
      try await second.request(last, is: "succeeded")
    }
  }

  @Test("a whole graph is submitted at once, or nothing of it, and again with the same keys stands for the same requests")
  func graphs() async throws {
    try await withSides { fleet, first, second, lines in
      let graph = """
        [{"identifier": "job", "resources": {"right": 1}, "payload": {"wait": 0}, "idempotency_key": "0"},
         {"identifier": "job", "resources": {"left": 1}, "after": ["@0"], "idempotency_key": "1"},
         {"identifier": "job", "resources": {"right": 1}, "after": ["@0", "@1"], "idempotency_key": "2"}]
        """
      let answer = try await first.post("/v1/requests", graph)
      let ids = try Self.ids(answer)
      #expect(answer.status == 201 && ids.count == 3, "\(answer)")
      #expect(try lines.line() == "b {\"wait\": 0}")
      let again = try await second.post("/v1/requests", graph)
      #expect(try Self.ids(again) == ids, "\(again)")
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"b\":1}")
      #expect(try lines.line() == "b {\"b\":1,\"a\":1}")
      try await first.request(ids.last ?? "", is: "succeeded")
      // Each waits for the one before, and none for a request that is there already.
      let chain =
        ["{\"identifier\": \"job\", \"delay_ms\": 3600000}"]
        + (0..<1200).map { "{\"identifier\": \"job\", \"after\": [\"@\($0)\"]}" }
      let long = try await first.post("/v1/requests", "[\(chain.joined(separator: ","))]")
      #expect(try long.status == 201 && Self.ids(long).count == 1201, "\(long.status)")
      #expect(try await first.cli("tasks", "cancel", Self.ids(long)[0]).status == 0)
      // One after the other.
      try await first.request(Self.ids(long)[1200], is: "cancelled", within: .seconds(240))
      let unknown = "01a2250d-ece0-7fff-8401-31a187eaa482"
      let half = try await second.post(
        "/v1/requests", "[{\"identifier\": \"job\", \"delay_ms\": 60000}, {\"identifier\": \"job\", \"after\": [\"\(unknown)\"]}]")
      #expect(half.status == 400, "\(half)")
      #expect(try await second.json("tasks", "list", "--state", "pending")["requests"]?.array.isEmpty == true)
      let here = try await FleetGround.submit(first, "--after", "1h")
      let own = try await first.cli("submit", "here", "--follows", here)
      #expect(own.status == 6 && own.errors.contains("of the fleet"), "\(own)")
    }
  }

  @Test("the host that runs a predecessor dies: what follows waits for the host that runs it again")
  func losses() async throws {
    let fleet = try await FleetGround(lease: "2s")
    try await fleet.withHosts(job: "echo \"@HOST@ $TASKHOST_REQUEST_ID\" > @PIPE@; test @HOST@ = b || exec sleep 100") { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      let running = try await FleetGround.submit(first)
      #expect(try lines.line() == "a \(running)")
      let follower = try await FleetGround.submit(first, "--follows", running)
      try await FleetGround.joined(second)
      await first.kill()
      #expect(try [lines.line(), lines.line()] == ["b \(running)", "b \(follower)"])
      try await second.request(follower, is: "succeeded")
    }
  }

  @Test("what is appended to a unique key runs after its holder, wherever that runs, and a cancelled one gives the key back")
  func appended() async throws {
    try await withSides { fleet, first, second, lines in
      let head = try await FleetGround.submit(
        first, "--resource", "right", "--key", "k", "--on-conflict", "append", "--payload", "{\"wait\":0}")
      #expect(try lines.line() == "b {\"wait\":0}")
      func append(_ host: HostProcess, _ side: String, _ number: Int) async throws -> String {
        let answer = try await host.json(
          "submit", "job", "--resource", side, "--key", "k", "--on-conflict", "append", "--payload", "{\"n\":\(number)}")
        #expect(answer["disposition"]?.string == "appended", "\(answer)")
        return answer["id"]?.string ?? ""
      }
      let next = try await append(first, "left", 1)
      let third = try await append(second, "right", 2)
      let dropped = try await append(second, "left", 3)
      #expect(try await first.cli("tasks", "cancel", dropped).status == 0)
      let last = try await append(second, "left", 4)
      #expect(try await first.json("tasks", "show", last)["blocked_by"]?.string == third)
      try await Self.go(fleet)
      #expect(try lines.line() == "a {\"b\":1,\"n\":1}")
      #expect(try lines.line() == "b {\"a\":1,\"n\":2}")
      #expect(try lines.line() == "a {\"b\":1,\"n\":4}")
      for id in [head, next, third, last] { try await second.request(id, is: "succeeded") }
      // A new chain, which a replacement ends.
      let alone = try await FleetGround.submit(first, "--after", "1h", "--key", "k", "--on-conflict", "append")
      let tail = try await append(second, "left", 5)
      let replaced = try await first.json(
        "submit", "job", "--resource", "right", "--key", "k", "--on-conflict", "replace", "--payload", "{\"n\":6}")
      #expect(replaced["disposition"]?.string == "replaced", "\(replaced)")
      #expect(try lines.line() == "b {\"n\":6}")
      for id in [alone, tail] { #expect(try await second.json("tasks", "show", id)["state"]?.string == "cancelled") }
    }
  }

  @Test("the key of a chain goes back to the request that still runs, whichever one behind it ends, and a retry takes it again")
  func chained() async throws {
    try await withSides { fleet, first, second, lines in
      func submit(_ host: HostProcess, _ policy: String, _ arguments: String...) async throws -> (id: String, how: String) {
        let answer = try await host.json(["submit", "job", "--key", "k", "--on-conflict", policy] + arguments)
        return (answer["id"]?.string ?? "", answer["disposition"]?.string ?? "\(answer)")
      }
      let head = try await submit(first, "append", "--resource", "right", "--payload", "{\"wait\":0}").id
      #expect(try lines.line() == "b {\"wait\":0}")
      let middle = try await submit(first, "append", "--resource", "left").id
      let tail = try await submit(second, "append", "--resource", "right").id
      #expect(try await second.cli("tasks", "cancel", middle).status == 0)
      try await first.request(tail, is: "cancelled")
      let kept = try await submit(first, "keep")
      #expect(kept.id == head && kept.how == "kept", "\(kept)")
      let broken = try await FleetGround.submit(first, "--resource", "left", "--on-event", "push", "--payload", "{\"fail\":0}")
      let next = try await submit(second, "append", "--resource", "left", "--follows", broken)
      #expect(next.how == "appended")
      let last = try await submit(first, "append", "--resource", "right")
      #expect(last.how == "appended")
      #expect(try await second.cli("notify", "push").status == 0)
      #expect(try lines.line() == "a {\"fail\":0}")
      for id in [next.id, last.id] { try await second.request(id, is: "failed") }
      #expect(try await submit(second, "keep").id == head)
      _ = FileManager.default.createFile(atPath: fleet.pipe + ".mended", contents: nil)
      #expect(try await second.cli("tasks", "retry", broken).status == 0)
      #expect(try lines.line() == "a {\"fail\":0}")
      for id in [next.id, last.id] { #expect(try await first.json("tasks", "show", id)["state"]?.string == "blocked") }
      #expect(try await submit(first, "keep").id == last.id)
      try await first.request(broken, is: "succeeded")
      try await Self.go(fleet)
      for side in ["a", "b"] { #expect(try lines.line().hasPrefix(side)) }
      for id in [head, next.id, last.id] { try await first.request(id, is: "succeeded") }
    }
  }

  @Test("a request that others of the fleet wait for cannot begin to repeat, wherever it is")
  func followed() async throws {
    try await withSides { fleet, first, second, lines in
      func update(_ host: HostProcess, _ key: String) async throws -> Program.Result {
        try await host.cli("submit", "job", "--key", key, "--on-conflict", "update", "--every", "1h", "--after", "1h")
      }
      let led = try await FleetGround.submit(first, "--key", "led", "--after", "1h")
      let follower = try await FleetGround.submit(second, "--follows", led)
      let refused = try await update(second, "led")
      #expect(refused.status == 6 && refused.errors.contains("\(follower) waits for request \(led) to end"), "\(refused)")
      #expect(try await first.json("tasks", "show", led)["every_ms"] == nil)
      #expect(try await second.cli("tasks", "cancel", follower).status == 0)
      #expect(try await update(first, "led").status == 0)
      // Nothing can begin to wait for it now.
      #expect(try await second.cli("submit", "job", "--follows", led).status == 6)
      let held = try await FleetGround.submit(first, "--resource", "right", "--key", "held", "--payload", "{\"wait\":0}")
      #expect(try lines.line() == "b {\"wait\":0}")
      #expect(try await update(second, "held").status == 6)
      #expect(try await second.cli("tasks", "show", held).status == 0)
      try await Self.go(fleet)
      try await first.request(held, is: "succeeded")
    }
  }

  @Test("a key with a window drops what comes after its holder has ended, from whichever host, until the window ends")
  func windows() async throws {
    try await withSides { _, first, second, lines in
      func submit(_ host: HostProcess, _ arguments: String...) async throws -> JSON {
        try await host.json(["submit", "job", "--key", "w", "--on-conflict", "keep"] + arguments)
      }
      let held = try await submit(first, "--unique-window", "1h", "--payload", "{\"n\":1}")
      let id = try #require(held["id"]?.string)
      #expect(try lines.line().hasSuffix("{\"n\":1}"))
      try await second.request(id, is: "succeeded")
      for host in [first, second] {
        let again = try await submit(host, "--unique-window", "1h")
        #expect(again["id"]?.string == id && again["disposition"]?.string == "kept", "\(again)")
        let plain = try await submit(host)
        #expect(plain["id"]?.string == id && plain["disposition"]?.string == "kept", "\(plain)")
      }
      let new = try await second.json(
        "submit", "job", "--key", "w", "--on-conflict", "replace", "--unique-window", "1s", "--payload", "{\"n\":2}")
      #expect(try lines.line().hasSuffix("{\"n\":2}"))
      try await first.request(new["id"]?.string ?? "", is: "succeeded")
      // After its own window, which is the shorter one, the key is free.
      var free = try await submit(first, "--payload", "{\"n\":3}")
      while free["disposition"]?.string == "kept" { free = try await submit(first, "--payload", "{\"n\":3}") }
      #expect(try lines.line().hasSuffix("{\"n\":3}"))
    }
  }

  @Test("who waits at one host is told of an end without a run that another host has decided")
  func told() async throws {
    try await withSides { _, first, second, _ in
      let held = try await FleetGround.submit(second, "--after", "1h")
      let (here, there) = (first.socket, second.socket)
      try await onThread {
        let events = try SocketClient(here, limit: .seconds(20))
        try events.send("GET /v1/stream?request=\(held) HTTP/1.1\r\nhost: x\r\n\r\n")
        _ = try events.read(until: ": subscribed\n\n")
        #expect(try SocketClient(there).request("DELETE", "/v1/requests/\(held)").status == 200)
        _ = try events.read(until: "event: request\ndata: ")
        #expect(try JSON(parsing: try events.read(until: "\n\n"))["state"]?.string == "cancelled")
      }
    }
  }

  @Test("many graphs that begin, end and are followed at the same time on both hosts all run to their ends, each request once")
  func crowd() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: "echo \"$TASKHOST_REQUEST_ID\" > @PIPE@", slots: 8) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      let middle = (1...6).map { _ in "{\"identifier\": \"job\", \"after\": [\"@0\"]}" }.joined(separator: ", ")
      let names = (1...6).map { "\"@\($0)\"" }.joined(separator: ", ")
      let graph = "[{\"identifier\": \"job\"}, \(middle), {\"identifier\": \"job\", \"after\": [\(names)]}]"
      let ids = try await withThrowingTaskGroup(of: [String].self) { group in
        for number in 0..<12 {
          let (host, other) = number % 2 == 0 ? (first, second) : (second, first)
          group.addTask {
            var ids = try Self.ids(await host.post("/v1/requests", graph))
            // It may have ended by now, or end meanwhile.
            for place in [0, 3, 7] { ids.append(try await FleetGround.submit(other, "--follows", ids[place])) }
            return ids
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(ids.count == 12 * 11)
      let ran = try (0..<ids.count).map { _ in try lines.line() }
      #expect(ran.sorted() == ids.sorted())
      for id in ids { try await first.request(id, is: "succeeded") }
    }
  }
}
