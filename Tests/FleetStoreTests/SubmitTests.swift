import HostThreads
import PostgresTestSupport
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@testable import FleetStore

/// `taskhost.submit`, compared with what a host does.
struct SubmitTests {
  /// A fleet whose identifier a host has.
  private func fleet() throws -> TestFleet {
    let fleet = try TestFleet()
    _ = try fleet.join()
    return fleet
  }

  private func refusal(_ fleet: TestFleet, _ call: SubmitCall) throws -> PostgresError? {
    let connection = try PostgresConnection(fleet.address, name: "test")
    do throws(PostgresError) {
      try connection.run(call.statement, by: SystemClock.now + .seconds(10))
      return nil
    } catch { return error }
  }

  // MARK: What is written

  private static let texts = ["k", "a \"b\"", "ä€😀", "\\n\u{1}\t/", "x'y--", String(repeating: "k", count: 256)]
  private static let printable = ["k", "a \"b\"\\", "~", "10", "9", "A", "a", "Z/"]

  /// A request with some of the fields that a fleet takes.
  private func request(_ identifier: TaskIdentifier, _ number: Int, _ random: inout SeededGenerator) -> TaskRequest {
    var request = TaskRequest(identifier: identifier)
    func some() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
    let now = SystemClock().wallTime
    if some() { request.payload = (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) } }
    if some() {
      request.delay = .milliseconds(Int64.random(in: 0...9_999_999, using: &random))
    } else if some() {
      request.earliestBegin = WallTime(unixMilliseconds: now.unixMilliseconds + Int64.random(in: -9_999_999...9_999_999, using: &random))
    }
    if some() {
      request.deadline =
        max(request.earliestBegin ?? now, now + (request.delay ?? .zero)) + .seconds(60)
        + .milliseconds(Int64.random(in: 1...99_999_999, using: &random))
    }
    if some(), request.earliestBegin == nil, request.delay == nil { request.deadline = WallTime(unixMilliseconds: 1_234) }
    if some() { request.priority = Int.random(in: Limits.priorities, using: &random) }
    if some() { request.conditions = Conditions(rawValue: UInt32.random(in: 0...Conditions.all.rawValue, using: &random)) }
    if some() { request.onLostCondition = LostConditionPolicy.allCases.randomElement(using: &random) }
    if some() { request.gates.window = Self.texts.randomElement(using: &random) }
    if some() { request.gates.concurrencyKey = Self.printable.randomElement(using: &random) }
    if some() { for name in ["gpu", "a b", "B", "10", "9", "z"].shuffled(using: &random).prefix(3) { request.gates.resources[name] = 7 } }
    if some() { request.gates.prefer = Self.printable.randomElement(using: &random) }
    if some() { request.gates.flex = .milliseconds(Int64.random(in: 1...99_999, using: &random)) }
    if some() { request.gates.wakes = true }
    if some() {
      (request.uniqueKey, request.onConflict) = ("\(Self.texts.randomElement(using: &random)?.prefix(200) ?? "")\(number)", .keep)
    }
    if some() { request.idempotencyKey = "\(number) é" }
    if some() { request.tags = Self.texts.shuffled(using: &random).prefix(2).map { $0 } }
    if some() { request.traceparent = TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\(some() ? 1 : 0)") }
    if some() {
      request.retry = RetryPolicy(
        attempts: Int.random(in: Limits.attempts, using: &random),
        backoff: RetryPolicy.Backoff.allCases.randomElement(using: &random) ?? .linear,
        initial: .milliseconds(Int64.random(in: 100...5_000, using: &random)),
        maximum: .milliseconds(Int64.random(in: 5_000...90_000, using: &random)))
    }
    return request
  }

  @Test("SQL writes the record, the lane and the rank that a host would write, for any combination of fields")
  func same() throws {
    let fleet = try fleet()
    let drafter = try Drafter(fleet: fleet.session.origin, resources: ["gpu": 9, "a b": 9, "B": 9, "10": 9, "9": 9, "z": 9])
    var random = SeededGenerator(seed: 17)
    var late = 0
    for number in 0..<400 {
      let request = request(fleet.identifier, number, &random)
      // A drafting host would have to have the window.
      var windowless = request
      windowless.gates.window = nil
      var expected = try drafter.draft(windowless).get()
      expected.request.gates.window = request.gates.window
      let id = try #require(RequestID(try fleet.session.submit(SubmitCall(request))))
      let row = try fleet.session.row(id)
      #expect(row.record.request.onLostCondition == request.onLostCondition)
      #expect(row.record.request.retry == request.retry)

      // What differs: the moment of the submission, and what follows from it.
      var written = row.record
      let passed = written.submitted - expected.submitted
      #expect(passed >= .milliseconds(-1) && passed < .seconds(30))
      if request.delay != nil { written.request.earliestBegin = written.request.earliestBegin.map { $0 + (.zero - passed) } }
      let isNow = request.delay != nil || expected.due == expected.submitted
      if isNow { written.due = written.due + (.zero - passed) }
      written.submitted = expected.submitted
      (written.id, written.request.onLostCondition, written.request.isUnchecked) = (expected.id, nil, false)
      written.request.retry = written.request.retry ?? SchedulingPolicyDefaults.retry
      #expect(written == expected, "\(number): \(String(decoding: row.text, as: UTF8.self))")
      late += written.isRelaxed ? 1 : 0

      let lane = try fleet.session.lane(expected.lane)
      #expect(row.lane == lane, "\(number): \(String(decoding: row.text, as: UTF8.self))")
      #expect(row.due == row.record.due.unixMilliseconds && row.key == request.uniqueKey)
      #expect(row.rank == row.due - Int64(request.priority) * 300_000)
      // A host that writes it again, before one has checked it, writes the same text; PostgreSQL escapes control characters otherwise.
      let text = String(decoding: row.text, as: UTF8.self)
      #expect(row.record.request.isUnchecked)
      if !text.contains("\\u") { #expect(RecordText.text(of: row.record) == text) }
      let deadline = expected.isRelaxed ? nil : expected.request.deadline
      #expect(row.deadline == deadline?.unixMilliseconds ?? .max)
    }
    #expect(late > 10)
    let lanes = try fleet.server.run("SELECT count(*) - count(DISTINCT (identifier, gates::text)) FROM taskhost.lane", on: fleet.address)
    #expect(lanes == "0")
  }

  @Test("the id is the text that a host prints, and jsonb payloads arrive as PostgreSQL prints them")
  func id() throws {
    let fleet = try fleet()
    var call = SubmitCall(fleet.identifier.rawValue)
    call.add("payload", .text(#"{"x":1, "y": [true]}"#), as: "jsonb")
    let text = try fleet.session.submit(call)
    let id = try #require(RequestID(text))
    #expect(id.description == text && id.origin == fleet.session.origin)
    let row = try fleet.session.row(id)
    #expect(String(decoding: row.record.request.payload, as: UTF8.self) == #"{"x": 1, "y": [true]}"#)
    #expect(row.record.id == id)
    for sequence in [0, 1, 0xFFF, 0x1000, 0x0FFF_FFFF_FFFF_FFFF] as [Int64] {
      let shown = try fleet.server.run("SELECT taskhost.id_text(\(sequence))", on: fleet.address)
      #expect(shown == RequestID(sequence: sequence, origin: fleet.session.origin).description)
    }
  }

  @Test("the parameters are the fields that a fleet takes")
  func parameters() throws {
    let fleet = try fleet()
    let names = try fleet.server.run(
      "SELECT string_agg(n, ',' ORDER BY n) FROM (SELECT unnest(proargnames) n FROM pg_proc WHERE proname = 'submit') a", on: fleet.address)
    let refused: [RequestField] = [
      .cron, .missed, .event, .watch, .after, .every, .timeZone, .daylightGap, .daylightRepeat, .missedLimit, .missedSpread, .everyEvent,
      .debounce, .jitter, .uniqueWindow,
    ]
    // PostgreSQL has types of its own for these.
    let own: [RequestField] = [.payloadBase64, .earliestBeginUnix, .deadlineUnix]
    let fields = RequestField.allCases.filter { !refused.contains($0) && !own.contains($0) }.map(\.rawValue)
    #expect(names.split(separator: ",").map(String.init).sorted() == (fields + ["notify", "payload_bytes"]).sorted())
    #expect(
      try refusal(
        fleet,
        {
          var call = SubmitCall("x"); call.add("jitter_ms", .int(1)); return call
        }())?.code == "42883")
  }

  // MARK: What is refused

  /// A request that no host takes, and why; the refusal is the host's own.
  private static let wrong: [@Sendable (inout TaskRequest) -> Void] = [
    { $0.priority = 11 }, { $0.priority = -11 }, { $0.payload = [UInt8](repeating: 0, count: Limits.payloadBytes + 1) },
    { $0.delay = .milliseconds(-1) }, { $0.delay = Limits.longestDuration + .milliseconds(1) }, { $0.gates.flex = .milliseconds(-1) },
    { $0.gates.flex = Limits.longestDuration + .milliseconds(1) }, { $0.earliestBegin = WallTime(unixMilliseconds: -1) },
    { $0.deadline = WallTime(unixMilliseconds: 253_402_300_800_000) },
    { ($0.earliestBegin, $0.deadline) = (WallTime(unixMilliseconds: 4_000_000_000_001), WallTime(unixMilliseconds: 4_000_000_000_000)) },
    { ($0.uniqueKey, $0.onConflict) = ("", .keep) }, { ($0.uniqueKey, $0.onConflict) = (String(repeating: "k", count: 257), .keep) },
    { ($0.uniqueKey, $0.onConflict) = (String(repeating: "é", count: 129), .keep) },
    { ($0.uniqueKey, $0.onConflict) = ("config:" + $0.identifier.rawValue, .keep) },
    { ($0.uniqueKey, $0.onConflict) = ("config:" + $0.identifier.rawValue + "/weekly", .keep) },
    { $0.idempotencyKey = "" }, { $0.idempotencyKey = String(repeating: "k", count: 257) }, { $0.idempotencyKey = "plugin:x:y" },
    { $0.tags = [""] },
    { $0.tags = ["a", String(repeating: "k", count: 257)] }, { $0.tags = [String](repeating: "t", count: 33) }, { $0.tags = ["plugin:x"] },
    { $0.tags = ["a", "transfer:x"] }, { $0.gates.window = "" }, { $0.gates.window = String(repeating: "k", count: 257) },
    { $0.gates.concurrencyKey = "é" }, { $0.gates.concurrencyKey = "" }, { $0.gates.concurrencyKey = String(repeating: "k", count: 257) },
    { $0.gates.prefer = "é" }, { $0.gates.prefer = "" }, { $0.gates.prefer = String(repeating: "k", count: 257) },
    { $0.gates.resources = ["é": 1] }, { $0.gates.resources = ["gpu": 0] }, { $0.gates.resources = ["gpu": 1_000_001] },
    { for number in 0..<17 { $0.gates.resources["r\(number)"] = 1 } },
    {
      $0.retry = RetryPolicy(); $0.retry?.attempts = 0
    }, { $0.retry = RetryPolicy(attempts: 1001) },
    { $0.retry = RetryPolicy(initial: .milliseconds(99)) }, { $0.retry = RetryPolicy(maximum: .seconds(31 * 86_400)) },
    { $0.retry = RetryPolicy(initial: .seconds(60), maximum: .seconds(30)) },
  ]

  @Test("what is beyond a limit is refused in the host's own words, and what is at it is not", arguments: wrong.indices)
  func refused(_ index: Int) throws {
    let fleet = try fleet()
    var request = TaskRequest(identifier: fleet.identifier)
    Self.wrong[index](&request)
    let drafter = try Drafter(fleet: fleet.session.origin)
    guard case .failure(let expected) = drafter.draft(request) else {
      Issue.record("a host takes it: \(request)")
      return
    }
    let error = try #require(try refusal(fleet, SubmitCall(request)))
    #expect(error.message == expected.message)
    #expect(error.code == FleetSchema.code(of: expected.code))
    #expect(try fleet.session.counts().ready == 0)
  }

  @Test("values at their limits are taken")
  func limits() throws {
    let fleet = try fleet()
    let right: [(inout TaskRequest) -> Void] = [
      { $0.priority = 10 }, { $0.priority = -10 }, { $0.payload = [UInt8](repeating: 0, count: Limits.payloadBytes) },
      { $0.delay = Limits.longestDuration }, { $0.gates.flex = Limits.longestDuration },
      { $0.earliestBegin = WallTime.calendar.lowerBound },
      { $0.deadline = WallTime.calendar.upperBound }, { ($0.uniqueKey, $0.onConflict) = (String(repeating: "é", count: 128), .keep) },
      { ($0.uniqueKey, $0.onConflict) = ("config:other", .keep) }, { $0.tags = (0..<32).map { "t\($0)" } },
      { for number in 0..<16 { $0.gates.resources["r\(number)"] = 1_000_000 } }, { $0.retry = RetryPolicy(attempts: 1000) },
      { $0.retry = RetryPolicy(initial: .milliseconds(100), maximum: .milliseconds(100)) },
    ]
    for change in right {
      var request = TaskRequest(identifier: fleet.identifier)
      change(&request)
      let id = try #require(RequestID(try fleet.session.submit(SubmitCall(request))))
      #expect(throws: Never.self) { try fleet.session.row(id) }
    }
  }

  @Test("what SQL alone can say is refused too")
  func refusedInSQL() throws {
    let fleet = try fleet()
    func refuse(_ name: String, _ value: String?, _ type: String, _ more: String? = nil) throws -> String {
      var call = SubmitCall(fleet.identifier.rawValue)
      call.add(name, .text(value), as: type)
      if let more { call.arguments.append(more) }
      let error = try #require(try refusal(fleet, call))
      #expect(error.code?.hasPrefix("TH") == true, "\(error)")
      return error.message
    }
    #expect(try refuse("earliest_begin", "infinity", "timestamptz") == "earliest_begin: lies outside of the years 1970 to 9999")
    #expect(try refuse("deadline", "-infinity", "timestamptz") == "deadline: lies outside of the years 1970 to 9999")
    #expect(
      try refuse("delay_ms", "1", "bigint", "earliest_begin => now()") == "delay_ms and earliest_begin exclude each other: give one of them"
    )
    #expect(try refuse("payload", "1", "jsonb", "payload_bytes => ''") == "payload and payload_bytes exclude each other: give one of them")
    #expect(try refuse("tags", "{NULL}", "text[]") == "tags[0]: must be a string, this is null")
    #expect(try refuse("tags", "{{a,b},{c,d}}", "text[]") == "tags[0]: must be a string, this is an array")
    #expect(try refuse("conditions", "{{power}}", "text[]") == "conditions[0]: must be a string, this is an array")
    #expect(try refuse("conditions", "{power,NULL}", "text[]") == "conditions[1]: must be a string, this is null")
    #expect(try refuse("conditions", "{night}", "text[]") == "there is no condition \"night\"")
    #expect(try refuse("on_lost_condition", "x", "text") == "on_lost_condition: there is no \"x\"")
    #expect(try refuse("on_conflict", "keep", "text") == "unique_key: is missing: on_conflict applies to requests with the same key")
    #expect(
      try refuse("on_conflict", "replace", "text", "unique_key => 'k'")
        == "on_conflict replace is not offered in SQL: submit it through a host")
    #expect(try refuse("resources", "[]", "jsonb") == "resources: must be an object as {\"gpu\": 1}, this is an array")
    #expect(try refuse("resources", "{\"gpu\": 1.5}", "jsonb") == "resources.gpu: must be a whole number, this is 1.5")
    #expect(try refuse("resources", "{\"gpu\": 1.0}", "jsonb") == "resources.gpu: must be a whole number, this is 1.0")
    #expect(try refuse("retry", "{\"attempts\": 2.0}", "jsonb") == "retry.attempts: must be a whole number, this is 2.0")
    #expect(try refuse("retry", "{\"attempt\": 1}", "jsonb") == "retry.attempt: there is no such member")
    #expect(try refuse("retry", "{\"attempts\": 1e300}", "jsonb").hasPrefix("retry.attempts: 1000"))
    #expect(try refuse("retry", "{\"backoff\": null}", "jsonb") == "retry.backoff: must be a string, this is null")
    #expect(try refuse("traceparent", "00-x", "text").hasPrefix("traceparent: \"00-x\" is not a traceparent: "))
    for name in ["", "-x", "a b", String(repeating: "x", count: 129), "é"] {
      let error = try #require(try refusal(fleet, SubmitCall(name)))
      let expected = (try? TaskIdentifier(name)) == nil ? Self.flaw(of: name) : ""
      #expect(error.message == "identifier: " + expected)
    }
    let unknown = try #require(try refusal(fleet, SubmitCall("org.example.nobody")))
    #expect(unknown.code == "TH102" && unknown.message.contains("no host of the fleet has registered org.example.nobody"))
  }

  private static func flaw(of identifier: String) -> String {
    do {
      _ = try TaskIdentifier(identifier)
      return ""
    } catch { return error.description }
  }
}

/// What hosts take without an operator's word.
enum SchedulingPolicyDefaults {
  static let retry = RetryPolicy()
}
