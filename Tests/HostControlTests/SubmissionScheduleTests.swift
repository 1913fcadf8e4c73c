import TaskModel
import Testing

@testable import HostControl

@Suite("Reading schedules, events and graphs") struct SubmissionScheduleTests {
  private static let id = "01976c1e-0000-7000-8000-000000000000"
  /// One byte more than a key has.
  private static let long = String(repeating: "x", count: 257)
  /// With a slash before it, one byte more than a path has.
  private static let longPath = String(repeating: "x", count: 4095)

  private func read(_ members: String) throws -> TaskRequest {
    let body = Array("{\"identifier\":\"a\",\(members)}".utf8)
    return try #require(
      try SubmissionReader.read(body, hostTimeZone: { "Asia/Tokyo" }).requests.first)
  }

  @Test("a delay is left to the scheduler; a moment follows the calendar, and so does nothing")
  func clocks() throws {
    #expect(try read("\"delay_ms\":500").delay == .milliseconds(500))
    #expect(try read("\"delay_ms\":500").earliestBegin == nil)
    #expect(try read("\"earliest_begin\":\"2026-11-21T08:00:00Z\"").clock == .wall)
    #expect(try read("\"earliest_begin_unix_ms\":7").earliestBegin == WallTime(unixMilliseconds: 7))
    #expect(try read("\"priority\":1").clock == .wall)
  }

  @Test("a deadline is a moment, written either way")
  func deadline() throws {
    #expect(try read("\"deadline\":\"2026-11-21T09:00:00+01:00\"").deadline == WallTime(unixMilliseconds: 1_795_248_000_000))
    #expect(try read("\"deadline_unix_ms\":1795248000000").deadline == WallTime(unixMilliseconds: 1_795_248_000_000))
    #expect(try read("\"deadline_unix_ms\":1").deadline == WallTime(unixMilliseconds: 1), "one that has passed counts at once")
  }

  @Test("cron has the host's zone where it names none, and the policies of its own")
  func cron() throws {
    #expect(try read("\"cron\":\"0 8 * * *\"").repetition == RepeatRule(.cron(CronRule("0 8 * * *", timeZone: "Asia/Tokyo"))))
    let full = try read(
      "\"cron\":\"@daily\",\"time_zone\":\"Europe/Berlin\",\"daylight_gap\":\"skip\",\"daylight_repeat\":\"both\",\"flex_ms\":60000")
    let rule = CronRule("@daily", timeZone: "Europe/Berlin", daylight: DaylightPolicy(gap: .skip, repeated: .both))
    #expect(full.repetition == RepeatRule(.cron(rule)))
    #expect(full.gates.flex == .seconds(60))
  }

  @Test("missed occurrences: one, none, or the last few spread out")
  func missed() throws {
    func policy(_ members: String) throws -> MissedPolicy? { try read("\"every_ms\":60000,\(members)").repetition?.missed }
    #expect(try policy("\"priority\":0") == .latest)
    #expect(try policy("\"missed\":\"latest\"") == .latest)
    #expect(try policy("\"missed\":\"skip\"") == .skip)
    #expect(try policy("\"missed\":\"all\"") == .all(limit: 10, spread: .seconds(60)))
    #expect(try policy("\"missed\":\"all\",\"missed_limit\":3,\"missed_spread_ms\":0") == .all(limit: 3, spread: .zero))
  }

  @Test("an event wakes a request once, or at every event; a watched file is an event")
  func events() throws {
    let once = try read("\"event\":\"deploy\",\"debounce_ms\":2000")
    #expect(once.event == EventTrigger("deploy", debounce: .seconds(2)))
    #expect(once.repetition == nil)
    #expect(try read("\"event\":\"deploy\",\"every_event\":true").repetition == RepeatRule(.event))
    #expect(try read("\"event\":\"deploy\",\"every_event\":false").repetition == nil)
    let watched = try read("\"watch\":\"/etc/hosts\"")
    #expect(watched.event == EventTrigger("file:/etc/hosts"))
    #expect(watched.event?.path == "/etc/hosts")
    #expect(try read("\"event\":\"file:/etc/hosts\"").event == watched.event)
  }

  @Test("what it shares with others arrives")
  func gates() throws {
    let request = try read(
      "\"conditions\":[\"network\"],\"on_lost_condition\":\"finish\",\"window\":\"night\",\"concurrency_key\":\"k\",\"resources\":{\"gpu\":2}"
    )
    #expect(
      request.gates
        == RunConstraints(conditions: .network, onLostCondition: .finish, window: "night", concurrencyKey: "k", resources: ["gpu": 2]))
    let keyed = try read("\"unique_key\":\"k\",\"on_conflict\":\"append\",\"unique_window_ms\":5,\"idempotency_key\":\"i\"")
    #expect(keyed.onConflict == .append)
    #expect(keyed.uniqueWindow == .milliseconds(5))
    #expect(keyed.idempotencyKey == "i")
  }

  @Test("predecessors are ids, or earlier requests of the same array")
  func after() throws {
    let id = try #require(RequestID(Self.id))
    let alone = try read("\"after\":[\"\(Self.id)\"]")
    #expect(alone.after == [Dependency(.request(id))])
    // Which one counts is the scheduler's to say.
    #expect(try read("\"after\":[\"\(Self.id)\",\"\(Self.id)\"]").after.count == 2)
    let body = """
      [{"identifier":"a"},{"identifier":"b","after":["@0"]},
       {"identifier":"c","after":[{"request":"@1","on_failure":"ignore"},{"request":"\(Self.id)"}]}]
      """
    let graph = try SubmissionReader.read(Array(body.utf8)).requests
    #expect(graph[1].after == [Dependency(.position(0))])
    #expect(graph[2].after == [Dependency(.position(1), onFailure: .ignore), Dependency(.request(id))])
  }

  @Test("the header Idempotency-Key stands for the member, of a single request only")
  func header() throws {
    func key(_ body: String, _ header: String) throws -> String? {
      try SubmissionReader.read(Array(body.utf8), idempotencyKey: header).requests.first?.idempotencyKey
    }
    #expect(try key("{\"identifier\":\"a\"}", "h") == "h")
    #expect(try key("{\"identifier\":\"a\",\"idempotency_key\":\"h\"}", "h") == "h")
    for (body, header) in [
      ("{\"identifier\":\"a\",\"idempotency_key\":\"x\"}", "h"), ("[{\"identifier\":\"a\"}]", "h"), ("{\"identifier\":\"a\"}", ""),
    ] {
      let error = #expect(throws: RequestRefusal.self) { try key(body, header) }
      #expect(error?.field == "idempotency_key")
    }
  }

  /// Members, the field that is named, a part of the sentence.
  static let refusals: [(String, String, String)] = [
    ("\"every_ms\":60000,\"cron\":\"@daily\"", "cron", "exclude each other"),
    ("\"delay_ms\":1,\"earliest_begin_unix_ms\":1", "earliest_begin_unix_ms", "exclude each other"),
    ("\"deadline\":\"2026-11-21T08:00:00Z\",\"deadline_unix_ms\":1", "deadline_unix_ms", "exclude each other"),
    ("\"deadline\":\"soon\"", "deadline", "is not a time"),
    ("\"deadline_unix_ms\":1,\"earliest_begin_unix_ms\":5", "deadline", "before the earliest begin"),
    ("\"time_zone\":\"UTC\"", "time_zone", "needs cron"),
    ("\"every_ms\":60000,\"time_zone\":\"UTC\"", "time_zone", "needs cron"),
    ("\"cron\":\"@daily\",\"daylight_gap\":\"skp\"", "daylight_gap", "did you mean \"skip\"?"),
    ("\"cron\":\"@daily\",\"daylight_repeat\":\"none\"", "daylight_repeat", "first, last, both"),
    ("\"cron\":\"\"", "cron", "is empty: leave it out, or give it 1 to 256 bytes"),
    ("\"missed\":\"skip\"", "missed", "needs every_ms or cron"),
    ("\"every_ms\":60000,\"missed\":\"lates\"", "missed", "did you mean \"latest\"?"),
    ("\"every_ms\":60000,\"missed_limit\":3", "missed_limit", "\"missed\": \"all\""),
    ("\"every_ms\":60000,\"missed\":\"all\",\"missed_limit\":0", "missed_limit", "1 to 10000"),
    ("\"event\":\"a\",\"watch\":\"/b\"", "watch", "exclude each other"),
    ("\"event\":\"\"", "event", "1 to 256 bytes"),
    ("\"event\":\"a\\u0000\"", "event", "control characters"),
    ("\"event\":\"file:x\"", "event", "event: \"x\" is not an absolute path"),
    ("\"event\":\"file:/\(longPath)\"", "event", "is not a valid path"),
    ("\"event\":\"a\",\"every_ms\":60000", "every_ms", "send every_event"),
    ("\"event\":\"a\",\"every_event\":1", "every_event", "true or false"),
    ("\"event\":\"a\",\"every_event\":true,\"every_ms\":60000", "every_event", "exclude each other"),
    ("\"event\":\"a\",\"every_event\":true,\"missed\":\"skip\"", "missed", "needs every_ms or cron"),
    ("\"every_event\":true", "every_event", "needs event or watch"),
    ("\"debounce_ms\":5", "debounce_ms", "needs event or watch"),
    ("\"watch\":\"hosts\"", "watch", "not an absolute path"),
    ("\"watch\":7", "watch", "must be a string"),
    ("\"watch\":\"/\(longPath)\"", "watch", "is not a valid path"),
    ("\"window\":\"\"", "window", "is empty: leave it out"),
    ("\"window\":\"\(long)\"", "window", "257 bytes, more than 256: give a shorter one"),
    ("\"tags\":[\"a\",\"\"]", "tags[1]", "is empty: leave it out"),
    ("\"tags\":[\"\(long)\"]", "tags[0]", "257 bytes, more than 256: give a shorter one"),
    ("\"concurrency_key\":\"\"", "concurrency_key", "is empty: leave it out"),
    ("\"concurrency_key\":\"\(long)\"", "concurrency_key", "257 bytes, more than 256: send a hash of it"),
    ("\"unique_key\":\"\(long)\"", "unique_key", "257 bytes, more than 256: send a hash of it"),
    ("\"on_lost_condition\":\"stopp\"", "on_lost_condition", "did you mean \"stop\"?"),
    ("\"unique_window_ms\":5", "unique_window_ms", "needs unique_key"),
    ("\"unique_key\":\"k\",\"unique_window_ms\":0", "unique_window_ms", "outside of 1"),
    ("\"idempotency_key\":\"\"", "idempotency_key", "is empty: leave it out"),
    ("\"concurrency_key\":1", "concurrency_key", "must be a string"),
    ("\"prefer\":[]", "prefer", "must be a string"), ("\"prefer\":\"\"", "prefer", "is empty: leave it out"),
    ("\"prefer\":\"clé\"", "prefer", "it has a character other than printable ASCII"),
    ("\"resources\":[\"gpu\"]", "resources", "must be an object"),
    ("\"resources\":{\"gpu\":0}", "resources.gpu", "outside of 1"),
    ("\"resources\":{\"\":1}", "resources.", "is empty: leave it out"),
    ("\"after\":\"x\"", "after", "must be an array"),
    ("\"after\":[\"x\"]", "after[0]", "is the id of no request"),
    ("\"after\":[{\"request\":\"x\"}]", "after[0]", "is the id of no request"),
    ("\"after\":[7]", "after[0]", "must be a request's id"),
    ("\"after\":[{\"request\":7}]", "after[0].request", "must be a string"),
    ("\"after\":[{\"on_failure\":\"fail\"}]", "after[0].request", "is missing"),
    ("\"after\":[{\"request\":\"\(id)\",\"on_failure\":\"ignor\"}]", "after[0].on_failure", "did you mean \"ignore\"?"),
    ("\"after\":[{\"request\":\"\(id)\",\"on_failur\":1}]", "after[0].on_failur", "did you mean \"on_failure\"?"),
    ("\"after\":[\"@0\"]", "after[0]", "is for arrays"),
    ("\"after\":[\"\(id)\"],\"every_ms\":60000", "after", "repeats"),
    ("\"unique_key\":\"k\",\"on_conflict\":\"append\",\"every_ms\":60000", "on_conflict", "repeats"),
    ("\"crn\":\"@daily\"", "crn", "did you mean \"cron\"?"),
    ("\"idempotencykey\":\"x\"", "idempotencykey", "did you mean \"idempotency_key\"?"),
  ]

  @Test("what contradicts itself is refused, naming the field and what to do", arguments: refusals)
  func refused(_ members: String, _ field: String, _ part: String) throws {
    let error = #expect(throws: RequestRefusal.self) { try read(members) }
    #expect(error?.code == .invalid)
    #expect(error?.field == field)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test("a place in the array must be an earlier one", arguments: ["@1", "@2", "@-1", "@", "@x", "@99999999999999999999"])
  func positions(_ place: String) {
    let body = "[{\"identifier\":\"a\"},{\"identifier\":\"b\",\"after\":[\"\(place)\"]}]"
    let error = #expect(throws: RequestRefusal.self) { try SubmissionReader.read(Array(body.utf8)) }
    #expect(error?.field == "[1].after[0]")
  }
}
