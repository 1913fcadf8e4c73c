import CalendarTime
import ControlTestSupport
import Foundation
import HostThreads
import StrictText
import TaskModel
import TestSupport
import Testing

/// The built executable against a host over a real socket.
@Suite("Scheduling commands") struct SchedulingCommandTests {
  /// Runs commands against one host.
  private struct Shell: Sendable {
    let fixture: ControlFixture

    func callAsFunction(_ arguments: String...) async throws -> Program.Result {
      try await TaskHostProcess.run(arguments, environment: ["TASKHOST_SOCKET": fixture.socket], directory: fixture.directory)
    }
  }

  private func with(_ host: MemoryHost, _ body: @escaping @Sendable (Shell) async throws -> Void) async throws {
    try await ControlFixture.with(host) { try await body(Shell(fixture: $0)) }
  }

  private func submitted(_ arguments: String...) async throws -> TaskRequest {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let result = try await TaskHostProcess.run(["submit", "a"] + arguments, environment: ["TASKHOST_SOCKET": fixture.socket])
      #expect(result.status == 0, "\(result.errors)")
    }
    return try #require(host.submitted.first)
  }

  @Test("every option of when arrives")
  func when() async throws {
    let cron = try await submitted(
      "--cron", "0 8 * * mon-fri", "--tz", "Europe/Berlin", "--daylight-gap", "skip", "--daylight-repeat", "both", "--flex", "30m",
      "--jitter", "10m", "--wake",
      "--missed",
      "all:3", "--missed-spread", "5s", "--deadline", "2030-01-01T00:00:00Z")
    let rule = CronRule("0 8 * * mon-fri", timeZone: "Europe/Berlin", daylight: DaylightPolicy(gap: .skip, repeated: .both))
    #expect(cron.repetition == RepeatRule(.cron(rule), missed: .all(limit: 3, spread: .seconds(5))))
    #expect(cron.gates.flex == .seconds(1800))
    #expect(cron.jitter == .seconds(600))
    #expect(cron.gates.wakes)
    #expect(cron.deadline == RFC3339.parse("2030-01-01T00:00:00Z"))
    let every = try await submitted("--every", "6h", "--missed", "skip", "--after", "15m")
    #expect(every.repetition == RepeatRule(.every(.seconds(6 * 3600)), missed: .skip))
    #expect(every.delay == .seconds(900))
  }

  @Test("every option of events arrives; a relative path is that of the working directory")
  func events() async throws {
    let event = try await submitted("--on-event", "deploy", "--every-event", "--debounce", "2s")
    #expect(event.event == EventTrigger("deploy", debounce: .seconds(2)))
    #expect(event.repetition == RepeatRule(.event))
    #expect(try await submitted("--watch", "/etc/hosts").event?.path == "/etc/hosts")
    let host = MemoryHost()
    try await with(host) { run in
      let result = try await run("submit", "a", "--watch", "x/./y/../z")
      #expect(result.status == 0)
      #expect(host.submitted.first?.event?.path?.hasSuffix("/x/z") == true)
      #expect(host.submitted.first?.event?.path?.hasPrefix("/") == true)
    }
  }

  @Test("every option of needs and keys arrives")
  func needs() async throws {
    let id = "01976c1e-0000-7000-8000-000000000000"
    let request = try await submitted(
      "--requires", "network,idle", "--on-lost-condition", "finish", "--window", "night", "--follows", "\(id):ignore", "--concurrency-key",
      "c", "--resource", "gpu=2", "--resource", "licence", "--key", "k", "--on-conflict", "append", "--unique-window", "1h",
      "--idempotency-key", "i", "--tag", "t", "--prefer", "eu-west")
    var gates = RunConstraints(
      conditions: [.network, .idle], onLostCondition: .finish, window: "night", concurrencyKey: "c", resources: ["gpu": 2, "licence": 1])
    gates.prefer = "eu-west"
    #expect(request.gates == gates)
    #expect(request.after == [Dependency(.request(try #require(RequestID(id))), onFailure: .ignore)])
    #expect(request.onConflict == .append)
    #expect(request.uniqueWindow == .seconds(3600))
    #expect(request.idempotencyKey == "i")
  }

  @Test("a repeated submission is told")
  func repeated() async throws {
    try await with(MemoryHost()) { run in
      let first = try await run("submit", "a", "--idempotency-key", "i")
      #expect(first.errors == "")
      let second = try await run("submit", "a", "--idempotency-key", "i")
      #expect(second.output == first.output)
      #expect(second.errors.hasPrefix("repeated: "))
    }
  }

  @Test("submit --wait for a request that runs at every event, and for one by cron, ends with the occurrence")
  func waits() async throws {
    let host = MemoryHost { host, id in host.end(host.begin(id), .succeeded, message: "once", then: .pending) }
    try await with(host) { run in
      let results = [
        try await run("submit", "a", "--on-event", "x", "--every-event", "--wait"),
        try await run("submit", "a", "--cron", "@daily", "--wait"),
      ]
      #expect(results.map(\.output) == ["once\n", "once\n"])
    }
  }

  @Test("lists show what wakes a request and how it repeats")
  func lists() async throws {
    try await with(MemoryHost()) { run in
      for result in [
        try await run("submit", "a", "--on-event", "deploy", "--every-event", "--tag", "x", "--tag", "y"),
        try await run("submit", "a", "--every", "6h", "--after", "90m30s"), try await run("submit", "a", "--watch", "/etc/hosts"),
        try await run("submit", "a", "--cron", "0 8 * * *", "--tz", "Europe/Berlin", "--after", "90m30s"),
      ] { #expect(result.status == 0, "\(result.errors)") }
      let list = try await run("tasks", "list").output.split(separator: "\n").map { String($0.dropFirst(38)) }
      #expect(
        list == [
          "IDENTIFIER  STATE    WHEN           REPEATS                  ATTEMPT  LAST  TAGS",
          "a           pending  in 1 h         0 8 * * * Europe/Berlin  1        -",
          "a           pending  on /etc/hosts  -                        1        -",
          "a           pending  in 1 h         every 6h                 1        -",
          "a           pending  on deploy      every event              1        -     x,y",
        ])
    }
  }

  @Test("why prints each gate with since, until, who holds it and what would change it")
  func why() async throws {
    let host = MemoryHost()
    let now = SystemClock().wallTime
    host.setGates(
      [
        Gate(kind: "time", sentence: "not before its time", since: now + .seconds(-60), until: now + .seconds(7230)),
        Gate(
          kind: "plugin_busy", sentence: "the plugin is busy: 1 of 1 runs", heldBy: ["run-1"], remedy: "raise max_concurrent_runs"),
      ], earliestStart: now + .seconds(7230), wouldRunIf: ["run-1 ended"])
    try await with(host) { run in
      let id = try await run("submit", "a").output.trimmingCharacters(in: .newlines)
      let why = try await run("tasks", "why", id).output.split(separator: "\n").map(String.init)
      #expect(why.count == 8, "\(why)")
      guard why.count == 8 else { return }
      #expect(why[0] == "time: not before its time")
      #expect(why[1].hasPrefix("  since    20") && why[1].hasSuffix("ago)"), "\(why[1])")
      #expect(why[2].hasPrefix("  until    20") && why[2].hasSuffix("(in 2 h)"), "\(why[2])")
      #expect(why[3] == "plugin busy: the plugin is busy: 1 of 1 runs")
      #expect(why[4] == "  held by  run-1")
      #expect(why[5] == "  remedy   raise max_concurrent_runs")
      #expect(why[6].hasPrefix("earliest possible start: 20") && why[6].hasSuffix("(in 2 h)"))
      #expect(why[7] == "it would run if run-1 ended")
      let json = try JSONReader.read(Array(try await run("tasks", "why", id, "--json").output.utf8))
      #expect(json["details"]?.array?.last?["held_by"]?.array?.first?.string == "run-1")
    }
  }

  @Test("why of what runs tells no start, and what a remedy says already is not said again")
  func whyShort() async throws {
    let host = MemoryHost()
    try await with(host) { run in
      let id = try await run("submit", "a").output.trimmingCharacters(in: .newlines)
      host.setGates([Gate(kind: "running", sentence: "it is running")])
      let running = try await run("tasks", "why", id)
      #expect(running.output == "running: it is running\n")
      host.setGates([Gate(kind: "event", sentence: "it waits for x", remedy: "x comes")], wouldRunIf: ["x comes"])
      let waiting = try await run("tasks", "why", id)
      #expect(waiting.output == "event: it waits for x\n  remedy   x comes\nearliest possible start: unknown\n")
      let now = SystemClock().wallTime
      host.setGates([Gate(kind: "window", sentence: "it is closed", until: now + .seconds(3630)), Gate(kind: "event", sentence: "x")])
      let both = try await run("tasks", "why", id)
      #expect(both.output.contains("\nearliest possible start: unknown, but not before 20"), "\(both.output)")
      host.setGates([Gate(kind: "plugin_busy", sentence: "it is busy")], assumptions: ["too much comes before it"])
      let behind = try await run("tasks", "why", id)
      #expect(behind.output == "plugin busy: it is busy\nearliest possible start: unknown: too much comes before it\n")
      host.setGates(
        [Gate(kind: "window", sentence: "x")], earliestStart: now + .seconds(3630), assumptions: ["conditions stay as they are"])
      #expect(try await run("tasks", "why", id).output.hasSuffix("(in 1 h)\n  if conditions stay as they are\n"))
    }
  }

  @Test("cancel takes a tag and an identifier, retry all dead letters, snooze a while")
  func many() async throws {
    let host = MemoryHost()
    try await with(host) { run in
      func submit(_ identifier: String, _ tag: String) async throws -> String {
        try await run("submit", identifier, "--tag", tag).output.trimmingCharacters(in: .newlines)
      }
      let first = try await submit("a", "t")
      let second = try await submit("b", "t")
      let third = try await submit("b", "u")
      #expect(try await run("tasks", "cancel", "--tag", "t", "--identifier", "a").output == "1 request cancelled\n")
      #expect(try await run("tasks", "cancel", "--identifier", "nobody").output == "0 requests cancelled\n")
      #expect(try await run("tasks", "cancel", "--tag", "t", "--json").output == "{\"cancelled\":1}\n")
      #expect(try await run("tasks", "snooze", third, "--for", "15m30s").output == "\(third) in 15 min\n")
      let later = try await run("tasks", "snooze", third, "--for", "1m")
      #expect(later.errors == "note: its own time is later\n")

      let none = try await run("tasks", "retry", "--all")
      #expect(none.status == 0)
      #expect(none.errors == "no request has failed\n")
      for id in [first, second, third].compactMap(RequestID.init) { host.change(id, to: .failed) }
      #expect(try await run("tasks", "retry", "--all", "--identifier", "a").output == "\(first) pending\n")
      #expect(try await run("tasks", "retry", "--all", "--tag", "t").output == "\(second) pending\n")
      let both = try await run("tasks", "retry", third, first)
      #expect(both.output == "\(third) pending\n")
      #expect(both.status == 6)
    }
  }

  @Test("dead letters are discarded one by one and together")
  func discard() async throws {
    let host = MemoryHost()
    try await with(host) { run in
      func submit(_ identifier: String, _ tag: String) async throws -> String {
        try await run("submit", identifier, "--tag", tag).output.trimmingCharacters(in: .newlines)
      }
      let ids = [try await submit("a", "t"), try await submit("b", "t"), try await submit("b", "u")]
      let pending = try await run("tasks", "discard", ids[0])
      #expect(pending.status == 6 && pending.errors.contains("only a failed request can be discarded"), "\(pending.errors)")
      let none = try await run("tasks", "discard", "--all")
      #expect(none.status == 0 && none.errors == "no request has failed\n")
      for id in ids.compactMap(RequestID.init) { host.change(id, to: .failed) }
      #expect(try await run("tasks", "discard", "--all", "--tag", "u").output == "\(ids[2]) discarded\n")
      #expect(try await run("tasks", "discard", "--all", "--identifier", "a").output == "\(ids[0]) discarded\n")
      #expect(try await run("tasks", "discard", ids[1]).output == "\(ids[1]) discarded\n")
      #expect(try await run("tasks", "show", ids[1]).output.contains("cancelled"))
      #expect(try await run("tasks", "discard").status == 2)
    }
  }

  @Test("status exits 1 while something needs a person, and shows that first; a warning alone is no reason")
  func problems() async throws {
    let host = MemoryHost()
    let since = SystemClock().wallTime + .seconds(-7200)
    let warning = Problem(
      .override, of: "network", "network is overridden", remedy: "taskhost conditions clear network", needsAction: false)
    host.setProblems([warning])
    try await with(host) { run in
      let warned = try await run("status")
      #expect(warned.status == 0)
      #expect(warned.output.contains("\n- override: network is overridden\n    taskhost conditions clear network\n"), "\(warned.output)")
      host.setProblems([
        warning, Problem(.deadLetters, of: "a", "2 requests of a have failed for good\u{1B}", remedy: "retry them", since: since),
      ])
      let result = try await run("status")
      #expect(result.status == 1)
      #expect(
        result.output.contains(
          "\n! dead letters (2 h ago): 2 requests of a have failed for good\\u{1b}\n    retry them\n- override: network"),
        "\(result.output)")
      let json = try await run("status", "--json")
      #expect(json.status == 1)
      let node = try JSONReader.read(Array(json.output.utf8))
      #expect(node["needs_action"]?.bool == true)
      #expect(node["problems"]?.array?.map { $0["kind"]?.string } == ["dead_letters", "override"])
      #expect(node["problems"]?.array?.first?["since_unix_ms"]?.integer == since.unixMilliseconds)
      #expect(node["warnings"]?.array?.last?.string == warning.text)
    }
  }

  @Test("conditions are shown, set and cleared")
  func conditions() async throws {
    try await with(MemoryHost()) { run in
      let shown = try await run("conditions").output
      #expect(shown.hasPrefix("CONDITION "))
      #expect(shown.contains("\nnetwork          yes "), "\(shown)")
      #expect(shown.contains("\npower            yes           -  "), "\(shown)")
      #expect(shown.contains("\nidle             yes, unknown"), "\(shown)")
      let set = try await run("conditions", "set", "network=none", "power=true").output
      #expect(set.contains("\nnetwork          no, set "), "\(set)")
      #expect(set.contains("\npower            yes, set "), "\(set)")
      #expect(try await run("conditions", "clear", "network").output.contains("\nnetwork          yes "))
      #expect(try await run("conditions", "clear").output.contains("\npower            yes           - "))
      let json = try await run("conditions", "show", "--json").output
      #expect(try JSONReader.read(Array(json.utf8))["conditions"]?.array?.count == Conditions.named.count)
    }
  }

  @Test("notify wakes what waits, and says how many")
  func notify() async throws {
    let host = MemoryHost()
    try await with(host) { run in
      let nothing = try await run("notify", "a/b c")
      #expect(nothing.output == "a/b c: nothing waits for it\n")
      let id = try await run("submit", "a", "--on-event", "a/b c").output.trimmingCharacters(in: .newlines)
      #expect(try await run("tasks", "list").output.contains("on a/b c"))
      #expect(try await run("notify", "a/b c", "--payload", "{\"v\": 7}").output == "a/b c: woke 1\n")
      #expect(host.eventPayload(of: try #require(RequestID(id))) == Array("{\"v\": 7}".utf8))
      #expect(try await run("notify", "x", "--json").output == "{\"event\":\"x\",\"woken\":0,\"merged\":0,\"dropped\":1,\"waiting\":0}\n")
    }
  }

  @Test(
    "the forecast has a line for each request, or each run, and what would not run",
    arguments: [("2027-01-15T08:00:00Z", "09:00:00 UTC"), ("2027-01-15T23:59:30Z", "2027-01-16 00:59:30 UTC")])
  func forecast(from: String, second: String) async throws {
    let host = MemoryHost()
    let start = try #require(RFC3339.parse(from))
    let (a, request) = (try TaskIdentifier("a"), RequestID(sequence: 5, origin: 1))
    host.setForecast(
      Forecast(
        from: start, to: start + .seconds(7200),
        entries: [
          .init(at: start + .seconds(60), identifier: a, request: request, duration: .seconds(2), assumed: true),
          .init(at: start + .seconds(3600), identifier: a, request: request),
        ], counts: [.init(request: request, identifier: a, runs: 2)],
        held: [.init(request: request, identifier: a, reason: "waits for the event x")], notes: ["network is assumed to hold"]))
    try await with(host) { run in
      let result = try await run("forecast", "--hours", "2")
      #expect(result.output.contains("  in 1 min?  a           2s     2     \(request)\n"), "\(result.output)")
      #expect(!result.output.contains("  in 1 h "), "\(result.output)")
      let all = try await run("forecast", "--hours", "2", "--runs", "--utc").output
      #expect(all.contains("  in 1 min?  a           2s     \(request)\n"), "\(all)")
      #expect(all.contains("\n\(second)  in 1 h     a           -      \(request)\n"), "\(all)")
      #expect(
        result.output.hasSuffix(
          "would not run:\nIDENTIFIER  REQUEST                               BECAUSE\na           \(request)  waits for the event x\n"))
      #expect(result.errors == "note: network is assumed to hold\n")
      #expect(try await run("forecast", "--identifier", "a").output == result.output)
      #expect(try await run("forecast", "--runs", "--limit", "1").errors.hasPrefix("all runs until "))
      let unknown = try await run("forecast", "--identifier", "b")
      #expect(unknown.output.isEmpty && unknown.errors.hasSuffix("nothing is registered for b\n"), "\(unknown.errors)")
    }
    try await with(MemoryHost()) { run in
      let result = try await run("forecast", "--hours", "1")
      #expect(result.errors == "nothing would run in the next hour\n")
    }
  }

  @Test("status tells apart never ran, ran with nothing to do, ran and expired")
  func status() async throws {
    let host = MemoryHost()
    let now = SystemClock().wallTime
    func run(_ identifier: String, _ outcome: RunOutcome, stop: StopReason? = nil, message: String? = nil) throws -> RunRecord {
      var run = RunRecord(
        id: RunID(sequence: 7, origin: 1), request: RequestID(sequence: 5, origin: 1), identifier: try TaskIdentifier(identifier),
        attempt: 1,
        started: now + .seconds(-201), ended: now + .seconds(-200), outcome: outcome)
      (run.report.stopReason, run.report.message) = (stop, message)
      return run
    }
    let nightly = RequestRecord(
      id: RequestID(sequence: 5, origin: 1),
      request: TaskRequest(identifier: try TaskIdentifier("c"), uniqueKey: "nightly", repetition: RepeatRule(every: .seconds(86_400))),
      state: .pending, due: now + .seconds(90), submitted: now)
    host.setTasks([
      TaskActivity(ScheduleRecord(identifier: try TaskIdentifier("a")), nextStart: .distantFuture),
      TaskActivity(
        ScheduleRecord(identifier: try TaskIdentifier("b"), lastRun: try run("b", .noop), lastSuccess: now + .seconds(-200)),
        nextStart: now + .seconds(90)),
      TaskActivity(
        ScheduleRecord(
          identifier: try TaskIdentifier("c"), key: "nightly", request: nightly, lastRun: try run("c", .expired, message: "too slow"),
          lastSuccess: now + .seconds(-86_400), failures: 3), nextStart: now + .seconds(90)),
      TaskActivity(ScheduleRecord(identifier: try TaskIdentifier("d"), lastRun: try run("d", .retried, stop: .budget), failures: 1)),
      TaskActivity(
        ScheduleRecord(
          identifier: try TaskIdentifier("e"), key: "config:e", lastRun: try run("e", .succeeded), lastSuccess: now + .seconds(-200))),
    ])
    try await with(host) { run in
      let status = try await run("status").output
      #expect(
        status.hasSuffix(
          """

          IDENTIFIER  SCHEDULE           LAST RUN           ENDED      LAST SUCCESS  FAILED      NEXT         MESSAGE
          a           -                  never ran          -          -             -           on an event
          b           -                  nothing to do      3 min ago  3 min ago     -           in 1 min
          c           nightly: every 1d  expired            3 min ago  24 h ago      3 in a row  in 1 min     too slow
          d           -                  retried (expired)  3 min ago  -             1 in a row  -
          e           taskhost.toml      succeeded          3 min ago  3 min ago     -           cancelled

          """), "\(status)")
      #expect(status.contains("counters "))
      let json = try JSONReader.read(Array(try await run("status", "--json").output.utf8))
      #expect(json["tasks"]?.array?.map { $0["last"]?.string } == ["never", "noop", "expired", "retried", "succeeded"])
    }
  }

  @Test("status says which limit holds a task, and until when")
  func throttled() async throws {
    let host = MemoryHost()
    let identifiers = try ["org.example.sync", "org.example.other"].map { try TaskIdentifier($0) }
    var activities = identifiers.map { TaskActivity(ScheduleRecord(identifier: $0)) }
    activities[0].throttle = Gate(
      kind: "quota", sentence: "org.example.sync has used 10 min of 10 min in the last 1 d",
      until: WallTime(unixMilliseconds: 1_790_000_000_000))
    activities[1].throttle = Gate(kind: "rate", sentence: "the plugin's rate limit of 20/1m is used up")
    host.setTasks(activities)
    try await with(host) { run in
      let status = try await run("status").output
      let first = "\nthrottled: org.example.sync has used 10 min of 10 min in the last 1 d; next at 2026-09-"
      #expect(status.contains(first), "\(status)")
      #expect(status.contains("\nthrottled: org.example.other: the plugin's rate limit of 20/1m is used up\n"), "\(status)")
    }
  }

  @Test("plugins list shows limits where there are any")
  func limits() async throws {
    let host = MemoryHost()
    host.setPlugins([
      PluginStatus(file: "/p/a.so", health: .registered, quota: "12 min of 30 min used", rate: "100 starts a minute"),
      PluginStatus(file: "/p/b.so", health: .registered),
    ])
    try await with(host) { run in
      let list = try await run("plugins", "list").output
      #expect(list.contains("rate: 100 starts a minute; quota: 12 min of 30 min used\n"), "\(list)")
      #expect(list.contains("REASON  LIMITS\n"), "\(list)")
    }
  }
}
