import ControlTestSupport
import HTTPTransfer
import HostControl
import HostThreads
import NIOHTTP1
import StrictText
import TaskModel
import Testing

@Suite("Scheduling over HTTP") struct SchedulingServerTests {
  private func with(_ host: MemoryHost, _ body: @escaping @Sendable (HTTPTestClient) async throws -> Void) async throws {
    try await ControlFixture.with(host) { try await body(HTTPTestClient(socket: $0.socket)) }
  }

  @Test("a submission is answered with the schedule as it is kept, and the request shows all that was submitted")
  func effective() async throws {
    try await with(MemoryHost()) { client in
      let body = """
        {"identifier":"a","cron":"0 8 * * *","time_zone":"Europe/Berlin","daylight_gap":"skip","flex_ms":1000,"jitter_ms":8,"wake":true,"missed":"all",
         "missed_limit":3,"missed_spread_ms":5,"deadline":"2030-01-01T00:00:00Z","conditions":["network"],"on_lost_condition":"finish",
         "window":"night","unique_key":"k","unique_window_ms":9,"idempotency_key":"i","concurrency_key":"c","resources":{"z":1,"gpu":2},"prefer":"eu-west"}
        """
      let created = try await client.send("POST", "/v1/requests", body)
      #expect(created.status == 201, "\(created.message ?? "")")
      let effective = try #require(created.node["effective"])
      #expect(effective["next_start_unix_ms"]?.integer == 1_700_000_000_000)
      #expect(effective["latest_start_unix_ms"]?.integer == 1_700_000_001_000)
      #expect(effective["cron"]?.string == "0 8 * * *")
      #expect(effective["time_zone"]?.string == "Europe/Berlin")
      #expect(effective["deadline"]?.string == "2030-01-01T00:00:00Z")
      #expect(effective["clock"]?.string == "wall")
      #expect(effective["every_ms"] == nil)
      #expect(created.node["repeated"] == nil)

      let shown = try await client.send("GET", "/v1/requests/\(created.node["id"]?.string ?? "")").node
      for (name, text) in [
        ("cron", "0 8 * * *"), ("time_zone", "Europe/Berlin"), ("daylight_gap", "skip"), ("daylight_repeat", "first"), ("missed", "all"),
        ("deadline", "2030-01-01T00:00:00Z"), ("on_lost_condition", "finish"), ("window", "night"), ("unique_key", "k"),
        ("on_conflict", "keep"), ("idempotency_key", "i"), ("concurrency_key", "c"), ("prefer", "eu-west"), ("clock", "wall"),
      ] { #expect(shown[name]?.string == text, "\(name)") }
      for (name, number) in [("flex_ms", 1000), ("jitter_ms", 8), ("missed_limit", 3), ("missed_spread_ms", 5), ("unique_window_ms", 9)] {
        #expect(shown[name]?.integer == Int64(number), "\(name)")
      }
      #expect(shown["resources"]?["gpu"]?.integer == 2)
      #expect(shown["wake"]?.bool == true)
    }
  }

  @Test("what a request does not set is not shown")
  func unset() async throws {
    try await with(MemoryHost()) { client in
      let created = try await client.send("POST", "/v1/requests", "{\"identifier\":\"a\"}")
      let shown = try await client.send("GET", "/v1/requests/\(created.node["id"]?.string ?? "")").node
      for name in [
        "cron", "every_ms", "missed", "deadline", "flex_ms", "jitter_ms", "wake", "on_lost_condition", "window", "resources", "event",
        "watch", "after",
        "past_deadline", "idempotency_key", "unique_window_ms", "concurrency_key", "every_event", "debounce_ms", "missed_left",
        "prefer", "last_host",
      ] { #expect(shown[name] == nil, "\(name)") }
    }
  }

  @Test("the same Idempotency-Key is answered with the same request, which says that it is repeated")
  func repeated() async throws {
    let host = MemoryHost()
    try await with(host) { client in
      var ids: [String?] = []
      for _ in 0..<2 {
        var request = client.request("POST", "/v1/requests")
        request.headers = [("Idempotency-Key", "once")]
        request.body = Array("{\"identifier\":\"a\"}".utf8)
        let answer = try await client.answer(to: request)
        #expect(answer.status == 201)
        #expect(answer.node["repeated"]?.bool == (ids.isEmpty ? nil : true))
        ids.append(answer.node["id"]?.string)
      }
      #expect(ids[0] == ids[1])
      #expect(host.submitted.count == 1)
    }
  }

  @Test("two headers Idempotency-Key are refused, because it is unclear which of them counts")
  func twoKeys() async throws {
    let host = MemoryHost()
    try await with(host) { client in
      var request = client.request("POST", "/v1/requests")
      request.headers = [("Idempotency-Key", "once"), ("Idempotency-Key", "twice")]
      request.body = Array("{\"identifier\":\"a\"}".utf8)
      let answer = try await client.answer(to: request)
      #expect(answer.status == 400)
      #expect(host.submitted.isEmpty)
    }
  }

  @Test("an event wakes what waits for it, with its payload; until then the next start is null")
  func events() async throws {
    let host = MemoryHost()
    try await with(host) { client in
      let created = try await client.send("POST", "/v1/requests", "{\"identifier\":\"a\",\"event\":\"a b/c\",\"every_event\":true}")
      #expect(created.node["next_start"]?.value == .null)
      #expect(created.node["next_start_unix_ms"]?.value == .null)
      #expect(created.node["effective"]?["latest_start"]?.value == .null)
      #expect(created.node["effective"]?["every_event"]?.bool == true)
      let id = try #require(RequestID(created.node["id"]?.string ?? ""))
      let shown = try await client.send("GET", "/v1/requests/\(id)").node
      #expect(shown["due"]?.value == .null)
      #expect(shown["event"]?.string == "a b/c")

      let nobody = try await client.send("POST", "/v1/events/other")
      #expect(nobody.status == 200)
      #expect(nobody.node["woken"]?.integer == 0)
      #expect(nobody.node["dropped"]?.integer == 1)
      let woken = try await client.send("POST", "/v1/events/a%20b%2Fc", "{\"payload\": [1,  2]}")
      #expect(woken.node["event"]?.string == "a b/c")
      #expect(["woken", "merged", "dropped", "waiting"].map { woken.node[$0]?.integer } == [1, 0, 0, 1])
      #expect(host.eventPayload(of: id) == Array("[1,  2]".utf8))
      _ = try await client.send("POST", "/v1/events/a%20b%2Fc", "{\"payload_base64\":\"/wA=\"}")
      #expect(host.eventPayload(of: id) == [0xFF, 0])
      _ = try await client.send("POST", "/v1/events/a%20b%2Fc", "{}")
      #expect(host.eventPayload(of: id) == nil)
      #expect(try await client.send("GET", "/v1/requests/\(id)").node["due_unix_ms"]?.integer == 1_700_000_000_000)
    }
  }

  @Test("an event's payload may be as large as any, and not larger")
  func eventPayload() async throws {
    try await with(MemoryHost()) { client in
      let largest = "{\"payload_base64\":\"\(String(repeating: "AAAA", count: 21_845))AA==\"}"
      #expect(try await client.send("POST", "/v1/events/x", largest).status == 200)
      let larger = try await client.send("POST", "/v1/events/x", "{\"payload_base64\":\"\(String(repeating: "AAAA", count: 22_000))\"}")
      #expect(larger.status == 413)
      #expect(larger.field == "payload")
    }
  }

  @Test("conditions are shown, overridden and cleared, one or all")
  func conditions() async throws {
    try await with(MemoryHost()) { client in
      func overridden(_ answer: HTTPTestClient.Answer) -> [String?] {
        (answer.node["conditions"]?.array ?? []).filter { $0["overridden"]?.bool == true }.map { $0["name"]?.string }
      }
      let all = try await client.send("GET", "/v1/conditions")
      #expect(all.node["conditions"]?.array?.map { $0["name"]?.string } == Conditions.named.map(\.name))
      #expect(all.node["conditions"]?.array?.first?["holds"]?.bool == true)
      #expect(all.node["conditions"]?.array?.first?["since"]?.string == "2023-11-14T22:13:20Z")
      #expect(overridden(all) == [])
      let put = try await client.send(
        "PUT", "/v1/conditions", "{\"network\":\"none\",\"power\":true,\"idle\":\"any\",\"battery_not_low\":\"held\",\"unmetered\":false}")
      #expect(overridden(put) == ["network", "unmetered", "power", "idle", "battery_not_low"])
      #expect(put.node["conditions"]?.array?.map { $0["holds"]?.bool } == [false, false, true, true, true, true])
      // All or nothing.
      _ = try await client.send("PUT", "/v1/conditions", "{\"battery_not_low\":false,\"x\":true}")
      let one = try await client.send("DELETE", "/v1/conditions?name=network&name=power")
      #expect(overridden(one) == ["unmetered", "idle", "battery_not_low"])
      #expect(overridden(try await client.send("DELETE", "/v1/conditions")) == [])
    }
  }

  @Test("why says every gate with since, until, who and what to do, and when it could start")
  func why() async throws {
    let host = MemoryHost()
    let (begin, end) = (WallTime(unixMilliseconds: 1_700_000_000_000), WallTime(unixMilliseconds: 1_700_000_060_000))
    host.setGates(
      [
        Gate(kind: "time", sentence: "not before its time", since: begin, until: end),
        Gate(kind: "plugin_busy", sentence: "the plugin is busy", heldBy: ["r1", "r2"], remedy: "raise max_concurrent_runs"),
      ], earliestStart: end, wouldRunIf: ["a run ended"])
    try await with(host) { client in
      let id = try await client.send("POST", "/v1/requests", "{\"identifier\":\"a\"}").node["id"]?.string ?? ""
      let why = try await client.send("GET", "/v1/requests/\(id)/why").node
      #expect(why["gates"]?.array?.map(\.string) == ["not before its time", "the plugin is busy"])
      let details = try #require(why["details"]?.array)
      #expect(details[0]["gate"]?.string == "time")
      #expect(details[0]["since_unix_ms"]?.integer == 1_700_000_000_000)
      #expect(details[0]["until"]?.string == "2023-11-14T22:14:20Z")
      #expect(details[0]["held_by"] == nil)
      #expect(details[1]["held_by"]?.array?.map(\.string) == ["r1", "r2"])
      #expect(details[1]["remedy"]?.string == "raise max_concurrent_runs")
      #expect(why["earliest_start_unix_ms"]?.integer == 1_700_000_060_000)
      #expect(why["would_run_if"]?.array?.map(\.string) == ["a run ended"])
      host.setGates([])
      #expect(try await client.send("GET", "/v1/requests/\(id)/why").node["earliest_start"]?.value == .null)
    }
  }

  @Test("the forecast shows what would run, what would not, and what was assumed")
  func forecast() async throws {
    let host = MemoryHost()
    let start = WallTime(unixMilliseconds: 1_700_000_000_000)
    let (a, request) = (try TaskIdentifier("a"), RequestID(sequence: 5, origin: 1))
    host.setForecast(
      Forecast(
        from: start, to: start + .seconds(7200),
        entries: [
          .init(at: start + .seconds(60), identifier: a, request: request, duration: .seconds(2), assumed: true),
          .init(at: start + .seconds(90), identifier: a, request: request, occurrence: start + .seconds(90)),
        ], held: [.init(request: request, identifier: a, reason: "waits for the event x")], notes: ["network is assumed to hold"]))
    try await with(host) { client in
      let all = try await client.send("GET", "/v1/forecast?hours=2").node
      #expect(all["to_unix_ms"]?.integer == 1_700_007_200_000)
      #expect(all["entries"]?.array?.map { $0["assumed"]?.bool } == [true, false])
      #expect(all["entries"]?.array?.first?["duration_ms"]?.integer == 2000)
      #expect(all["entries"]?.array?.last?["occurrence"]?.string == "2023-11-14T22:14:50Z")
      #expect(all["held"]?.array?.first?["reason"]?.string == "waits for the event x")
      #expect(all["notes"]?.array?.first?.string == "network is assumed to hold")
      #expect(all["truncated"]?.bool == false)
      let one = try await client.send("GET", "/v1/forecast?limit=1").node
      #expect(one["entries"]?.array?.count == 1)
      #expect(one["truncated"]?.bool == true)
    }
  }

  @Test("requests are cancelled by tag and by identifier, and snoozed")
  func many() async throws {
    let host = MemoryHost()
    try await with(host) { client in
      let many = """
        [{"identifier":"a","tags":["t"]},{"identifier":"b","tags":["t"]},{"identifier":"a","tags":["u"]},{"identifier":"b"}]
        """
      let ids = try await client.send("POST", "/v1/requests", many).node["requests"]?.array?.compactMap { $0["id"]?.string } ?? []
      let snoozed = try await client.send("POST", "/v1/requests/\(ids[3])/snooze", "{\"delay_ms\":900000}")
      #expect((snoozed.node["due_unix_ms"]?.integer ?? 0) > SystemClock().wallTime.unixMilliseconds)
      #expect(snoozed.node["notes"]?.array == [])
      let later = try await client.send("POST", "/v1/requests/\(ids[3])/snooze", "{\"delay_ms\":1}")
      #expect(later.node["notes"]?.array?.first?.string == "its own time is later")
      #expect(later.node["due_unix_ms"]?.integer == snoozed.node["due_unix_ms"]?.integer)
      #expect(try await client.send("DELETE", "/v1/requests?tag=t&identifier=a").node["cancelled"]?.integer == 1)
      #expect(try await client.send("DELETE", "/v1/requests?tag=t").node["cancelled"]?.integer == 1)
      #expect(try await client.send("DELETE", "/v1/requests?identifier=b").node["cancelled"]?.integer == 1)
      #expect(try await client.send("DELETE", "/v1/requests?identifier=b").node["cancelled"]?.integer == 0)
      #expect(try await client.send("GET", "/v1/requests/\(ids[2])").node["state"]?.string == "pending")
      #expect(try await client.send("POST", "/v1/requests/\(ids[0])/snooze", "{\"delay_ms\":1}").status == 409)
    }
  }

  @Test("the status tells apart never ran, ran with nothing to do, and ran and expired; and counts events")
  func status() async throws {
    let host = MemoryHost()
    let ended = WallTime(unixMilliseconds: 1_700_000_000_000)
    func run(_ identifier: String, _ outcome: RunOutcome, message: String? = nil) throws -> RunRecord {
      var run = RunRecord(
        id: RunID(sequence: 7, origin: 1), request: RequestID(sequence: 5, origin: 1), identifier: try TaskIdentifier(identifier),
        attempt: 1,
        started: ended, ended: ended, outcome: outcome)
      run.report.message = message
      return run
    }
    host.setTasks(
      [
        TaskActivity(ScheduleRecord(identifier: try TaskIdentifier("a")), nextStart: .distantFuture),
        TaskActivity(
          ScheduleRecord(identifier: try TaskIdentifier("b"), lastRun: try run("b", .noop), lastSuccess: ended),
          nextStart: ended + .seconds(60)),
        TaskActivity(
          ScheduleRecord(
            identifier: try TaskIdentifier("c"), key: "nightly", lastRun: try run("c", .expired, message: "too slow"), failures: 3,
            failingSince: ended)),
      ], counters: HostCounters(eventsReceived: 9, eventsWoken: 3, eventsMerged: 4, eventsDropped: 2))
    try await with(host) { client in
      let status = try await client.send("GET", "/v1/status").node
      let tasks = try #require(status["tasks"]?.array)
      #expect(tasks.map { $0["last"]?.string } == ["never", "noop", "expired"])
      #expect(tasks.map { $0["expired"]?.bool } == [nil, false, true])
      #expect(tasks[0]["next_start"]?.value == .null)
      #expect(tasks[1]["next_start_unix_ms"]?.integer == 1_700_000_060_000)
      #expect(tasks[2]["next_start"] == nil)
      #expect(tasks[2]["last_message"]?.string == "too slow")
      #expect(tasks[1]["last_success_unix_ms"]?.integer == 1_700_000_000_000 && tasks[2]["last_success"] == nil)
      #expect(tasks[2]["unique_key"]?.string == "nightly" && tasks[2]["failures_in_a_row"]?.integer == 3)
      #expect(status["counters"]?["events_merged"]?.integer == 4)
      #expect(status["counters"]?["events_dropped"]?.integer == 2)
    }
  }

  @Test("a plugin shows its quota and its rate")
  func limits() async throws {
    let host = MemoryHost()
    host.setPlugins([
      PluginStatus(file: "/p/a.so", health: .registered, quota: "12 min of 30 min in a day", rate: "100 starts a minute"),
      PluginStatus(file: "/p/b.so", health: .registered),
    ])
    try await with(host) { client in
      let plugins = try #require(try await client.send("GET", "/v1/plugins").node["plugins"]?.array)
      #expect(plugins.map { $0["quota"]?.string } == ["12 min of 30 min in a day", nil])
      #expect(plugins.map { $0["rate"]?.string } == ["100 starts a minute", nil])
    }
  }
}
