import CTaskHost
import HostThreads
import StoreTestSupport
import StrictText
import TaskModel
import TaskScheduler
import Testing
import WorkerLink

@testable import HostControl
@testable import PluginRuntime

/// A field's value at its limit is taken by every way into the host, and the first one beyond it is refused by all with the same sentence.
@Suite("Limits of requests") struct RequestLimitTests {
  /// Predecessors that exist.
  private typealias Predecessors = [RequestID]

  /// What a submission has in JSON and as a value, at the limit or beyond it.
  private struct Row: CustomStringConvertible {
    let description: String
    /// Members besides the identifier.
    let json: (_ isBeyond: Bool, Predecessors) -> String
    let change: (inout TaskRequest, _ isBeyond: Bool, Predecessors) -> Void
    /// Whether `taskhost.h` has the field.
    var isPlugins = true
    /// Whether the value means something to this host, which takes it then.
    var isKnown = true
  }

  private static func row<Value>(
    _ field: String, _ limit: Value, _ beyond: Value, isPlugins: Bool = true, isKnown: Bool = true, json: @escaping (Value) -> String,
    change: @escaping (inout TaskRequest, Value) -> Void
  ) -> Row {
    Row(
      description: field, json: { isBeyond, _ in json(isBeyond ? beyond : limit) },
      change: { request, isBeyond, _ in change(&request, isBeyond ? beyond : limit) }, isPlugins: isPlugins, isKnown: isKnown)
  }

  private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }
  private static func key(
    _ field: String, isPlugins: Bool = true, isKnown: Bool = true, more: String = "",
    _ change: @escaping (inout TaskRequest, String) -> Void
  ) -> Row {
    row(
      field, text(Limits.keyBytes), text(Limits.keyBytes + 1), isPlugins: isPlugins, isKnown: isKnown,
      json: { "\"\(field)\": \"\($0)\"\(more)" }, change: change)
  }

  private static let longest = Limits.longestDuration
  private static let millisecond = Duration.milliseconds(1)

  private static func length(
    _ field: String, _ limit: Duration = longest, _ beyond: Duration = longest + millisecond, isPlugins: Bool = true, more: String = "",
    _ change: @escaping (inout TaskRequest, Duration) -> Void
  ) -> Row {
    row(field, limit, beyond, isPlugins: isPlugins, json: { "\"\(field)\": \($0.wholeMilliseconds)\(more)" }, change: change)
  }

  private static func retry(
    _ member: String, _ limit: Duration, _ beyond: Duration, _ change: @escaping (inout RetryPolicy, Duration) -> Void
  ) -> Row {
    row(
      "retry.\(member)", limit, beyond, json: { "\"retry\": {\"\(member)\": \($0.wholeMilliseconds)}" },
      change: { request, value in
        var policy = RetryPolicy()
        change(&policy, value)
        request.retry = policy
      })
  }

  private static let moments = (WallTime.calendar.upperBound, WallTime.calendar.upperBound + millisecond)
  private static let keep = ", \"on_conflict\": \"keep\""

  private static var rows: [Row] {
    [
      row(
        "payload", Limits.payloadBytes, Limits.payloadBytes + 1, json: { "\"payload\": \"\(text($0 - 2))\"" },
        change: { $0.payload = Array("\"\(text($1 - 2))\"".utf8) }),
      row(
        "payload", Limits.payloadBytes, Limits.payloadBytes + 1,
        isPlugins: false, json: { "\"payload_base64\": \"\(Base64.encode(Array(text($0).utf8)))\"" },
        change: { $0.payload = Array(text($1).utf8) }),
      row("priority", 10, 11, json: { "\"priority\": \($0)" }, change: { $0.priority = $1 }),
      row("priority", -10, -11, json: { "\"priority\": \($0)" }, change: { $0.priority = $1 }),
      row(
        "earliest_begin", moments.0, moments.1, json: { "\"earliest_begin_unix_ms\": \($0.unixMilliseconds)" },
        change: { $0.earliestBegin = $1 }),
      row("deadline", moments.0, moments.1, json: { "\"deadline_unix_ms\": \($0.unixMilliseconds)" }, change: { $0.deadline = $1 }),
      key("unique_key", more: keep) { ($0.uniqueKey, $0.onConflict) = ($1, .keep) },
      key("idempotency_key") { $0.idempotencyKey = $1 },
      key("concurrency_key") { $0.gates.concurrencyKey = $1 },
      key("prefer") { $0.gates.prefer = $1 },
      key("window", isKnown: false) { $0.gates.window = $1 },
      key("cron", isKnown: false, more: ", \"time_zone\": \"UTC\"") { $0.repetition = RepeatRule(.cron(CronRule($1, timeZone: "UTC"))) },
      key("time_zone", isKnown: false, more: ", \"cron\": \"@daily\"") {
        $0.repetition = RepeatRule(.cron(CronRule("@daily", timeZone: $1)))
      },
      key("event") { $0.event = EventTrigger($1) },
      row(
        "watch", "/" + text(Limits.pathBytes - 1), "/" + text(Limits.pathBytes),
        json: { "\"watch\": \"\($0)\"" },
        change: { $0.event = EventTrigger(EventTrigger.filePrefix + $1) }),
      length("delay_ms") { $0.delay = $1 },
      length("flex_ms") { $0.gates.flex = $1 },
      length("jitter_ms") { $0.jitter = $1 },
      length("debounce_ms", more: ", \"event\": \"e\"") { $0.event = EventTrigger("e", debounce: $1) },
      length("every_ms") { $0.repetition = RepeatRule(every: $1) },
      // 0 says nothing in C.
      length("every_ms", millisecond, .zero, isPlugins: false) { $0.repetition = RepeatRule(every: $1) },
      length("unique_window_ms", more: ", \"unique_key\": \"k\"" + keep) {
        ($0.uniqueKey, $0.onConflict, $0.uniqueWindow) = ("k", .keep, $1)
      },
      length("missed_spread_ms", more: ", \"every_ms\": 900000, \"missed\": \"all\"") {
        $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: 10, spread: $1))
      },
      row(
        "missed_limit", Limits.missedRuns.upperBound, Limits.missedRuns.upperBound + 1,
        json: { "\"every_ms\": 900000, \"missed\": \"all\", \"missed_limit\": \($0)" },
        change: { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: $1, spread: .seconds(60))) }),
    ] + lists + retries
  }

  private static var lists: [Row] {
    [
      row(
        "tags", Limits.tags, Limits.tags + 1, json: { "\"tags\": \((0..<$0).map { "t\($0)" })" },
        change: { $0.tags = (0..<$1).map { "t\($0)" } }),
      row(
        "tags[0]", text(Limits.keyBytes), text(Limits.keyBytes + 1), json: { "\"tags\": [\"\($0)\"]" }, change: { $0.tags = [$1] }),
      row(
        "resources", Limits.resources, Limits.resources + 1,
        json: { "\"resources\": {\((0..<$0).map { "\"r\($0)\": 1" }.joined(separator: ","))}" },
        change: { $0.gates.resources = Dictionary(uniqueKeysWithValues: (0..<$1).map { ("r\($0)", 1) }) }),
      row(
        "resources.r0", Limits.resourceTokens.upperBound, Limits.resourceTokens.upperBound + 1, json: { "\"resources\": {\"r0\": \($0)}" },
        change: { $0.gates.resources = ["r0": $1] }),
      Row(
        description: "after",
        json: { isBeyond, ids in "\"after\": \(ids.prefix(Limits.predecessors + (isBeyond ? 1 : 0)).map(\.description))" },
        change: { request, isBeyond, ids in
          request.after = ids.prefix(Limits.predecessors + (isBeyond ? 1 : 0)).map { Dependency(.request($0)) }
        }),
    ]
  }

  private static var retries: [Row] {
    [
      row(
        "retry.attempts", Limits.attempts.upperBound, Limits.attempts.upperBound + 1, json: { "\"retry\": {\"attempts\": \($0)}" },
        change: { $0.retry = RetryPolicy(attempts: $1) }),
      retry("initial_ms", Limits.retryDelays.lowerBound, Limits.retryDelays.lowerBound - millisecond) { $0.initial = $1 },
      retry("maximum_ms", Limits.retryDelays.upperBound, Limits.retryDelays.upperBound + millisecond) { $0.maximum = $1 },
    ]
  }

  @Test("every way in takes a value at its limit, and refuses the first one beyond with the same sentence")
  func everyEntry() async throws {
    var policy = ExtremeHost.policy
    for number in 0..<Limits.resources { policy.resources["r\(number)"] = Limits.resourceTokens.upperBound }
    let host = try ExtremeHost(policy: policy)
    let later = TaskRequest(identifier: .sample(), earliestBegin: SystemClock().wallTime + .seconds(3600))
    let ids = try await host.submit(Array(repeating: later, count: Limits.predecessors + 1)).get().map(\.id)
    for row in Self.rows {
      for isBeyond in [false, true] {
        var request = TaskRequest(identifier: .sample())
        row.change(&request, isBeyond, ids)
        let expected = Self.sentence { () throws(RequestRefusal) in try request.check() }
        #expect((expected != nil) == isBeyond, "\(row): \(expected ?? "taken")")
        #expect(!isBeyond || expected?.hasPrefix("\(row): ") == true, "\(expected ?? "")")
        let body = "{\"identifier\": \"\(request.identifier)\", \(row.json(isBeyond, ids))}"
        let read = Self.sentence { () throws(RequestRefusal) in
          let requests = try SubmissionReader.read(Array(body.utf8)).requests
          #expect(requests.count == 1)
        }
        #expect(read == expected, "\(row) in JSON")
        if isBeyond || row.isKnown {
          let submitted = await host.submit([request])
          #expect(Self.sentence { () throws(RequestRefusal) in _ = try submitted.get() } == expected, "\(row) in the scheduler")
        }
        guard row.isPlugins else { continue }
        #expect(Self.refusal(ofPlugin: request) == expected, "\(row) in C")
        #expect(Self.refusal(onLink: request) == expected, "\(row) on the link")
      }
    }
  }

  private static func sentence(_ body: () throws(RequestRefusal) -> Void) -> String? {
    do {
      try body()
      return nil
    } catch { return error.message }
  }

  private static func refusal(ofPlugin request: TaskRequest) -> String? {
    RequestInC(request).borrow { raw in
      do throws(CallFailure) {
        let borrowed = try TaskRequest(borrowed: raw)
        return borrowed == request ? nil : "it arrived as \(borrowed)"
      } catch { return error.message }
    }
  }

  private static func refusal(onLink request: TaskRequest) -> String? {
    let sent = WorkerMessage.call(number: 1, .submit(RunID(sequence: 1, origin: 1), request))
    do {
      let received = try WorkerMessage(decoding: ReceivedMessage(bytes: sent.encode().bytes))
      return received == sent ? nil : "it arrived as \(received)"
    } catch {
      guard case .malformed(let what) = error else { return "\(error)" }
      return what
    }
  }
}
