import HostThreads
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskHost

@Suite("Spans") struct SpanTests {
  private static let caller = TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
  private let id = RequestID(sequence: 5, origin: 7)

  private func run(_ outcome: RunOutcome, attempt: Int = 1, parent: TraceParent?) throws -> RunRecord {
    let start = WallTime(unixMilliseconds: 1_700_000_002_000)
    var run = RunRecord(
      id: RunID(sequence: 6, origin: 7), request: id, identifier: .sample("a.b"), attempt: attempt, started: start,
      ended: start + .seconds(3), outcome: outcome)
    run.report.due = start + .seconds(-2)
    run.report.message = "the password is x"
    run.report.output = Array("secret".utf8)
    run.report.trace = RunTrace(of: run.id, attempt: attempt, isRepeating: false, parent: try #require(parent))
    return run
  }

  @Test("a message is OTLP's JSON: ids in hexadecimal, times and numbers as text, enumerations as numbers")
  func message() throws {
    let record = try run(.failed, parent: Self.caller)
    let spans = Span.spans(of: record, try #require(record.report.trace))
    let bytes = SpanMessage(serviceName: "s", hostName: "h", processID: 3).bytes(spans)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text.hasPrefix(
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"s\"}},{\"key\":\"host.name\""
      ))
    #expect(text.contains("\"key\":\"process.pid\",\"value\":{\"intValue\":\"3\"}"))
    #expect(
      text.contains("\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"") && text.contains("\"name\":\"wait a.b\",\"kind\":1"))
    #expect(text.contains("\"startTimeUnixNano\":\"1700000000000000000\",\"endTimeUnixNano\":\"1700000002000000000\""))
    #expect(
      text.contains(
        "\"name\":\"run a.b\",\"kind\":5,\"startTimeUnixNano\":\"1700000002000000000\",\"endTimeUnixNano\":\"1700000005000000000\""))
    #expect(text.contains("{\"key\":\"taskhost.outcome\",\"value\":{\"stringValue\":\"failed\"}}"))
    #expect(text.contains("\"status\":{\"message\":\"failed\",\"code\":2}") && text.contains("\"status\":{}"))
    #expect(!text.contains("password") && !text.contains("secret"))
  }

  @Test("failures have the status of an error, everything else has none")
  func status() throws {
    for outcome in [.succeeded, .noop, .snoozed, .cancelled, .stopped] as [RunOutcome] {
      let record = try run(outcome, parent: Self.caller)
      #expect(Span.spans(of: record, try #require(record.report.trace)).last?.failure == nil, "\(outcome)")
    }
    for outcome in [.failed, .expired, .crashed, .retried, .lost] as [RunOutcome] {
      let record = try run(outcome, parent: Self.caller)
      #expect(Span.spans(of: record, try #require(record.report.trace)).last?.failure?.hasPrefix(outcome.rawValue) == true, "\(outcome)")
    }
  }

  @Test("a first attempt is a part of its submission, a retry a root that is linked to it")
  func places() throws {
    let first = try run(.succeeded, parent: Self.caller)
    let spans = Span.spans(of: first, try #require(first.report.trace))
    let submission = Self.caller?.submission(of: id)
    #expect(spans.map(\.parent) == [submission, submission] && spans.allSatisfy { $0.link == nil })
    #expect(Set(spans.map(\.place.span)).count == 2 && submission?.span != Self.caller?.span)
    let retry = try run(.succeeded, attempt: 2, parent: Self.caller)
    let roots = Span.spans(of: retry, try #require(retry.report.trace))
    #expect(roots[1].parent == nil && roots[1].link == Self.caller && roots[0].parent == roots[1].place)
  }

  @Test("no time is too small or too large")
  func extremes() throws {
    for time in [WallTime(unixMilliseconds: .min), .distantFuture, WallTime(unixMilliseconds: -1)] {
      var record = try run(.succeeded, parent: Self.caller)
      (record.started, record.ended, record.report.due) = (time, time, time)
      for span in Span.spans(of: record, try #require(record.report.trace)) { #expect(span.start <= span.end) }
    }
  }

  @Test("what finds no room is dropped and counted; messages are full at most")
  func queue() throws {
    let record = try run(.succeeded, parent: Self.caller)
    let two = Span.spans(of: record, try #require(record.report.trace))
    var queue = SpanQueue()
    for _ in 0..<(SpanQueue.most / 2 + 5) { queue.add(two) }
    #expect(queue.counts.dropped == 10 && queue.hasFullMessage)
    var taken = 0
    while !queue.isEmpty {
      let message = queue.take()
      #expect(message.count <= SpanQueue.atOnce)
      taken += message.count
    }
    #expect(taken == SpanQueue.most)
    queue.settle(exported: taken - 1, dropped: 1)
    #expect(queue.counts == SpanCounts(exported: taken - 1, dropped: 11))
  }

  @Test("the helper's answer is read, and one that says nothing is a failure for now")
  func deliveries() {
    func read(_ code: Int32, _ text: String) -> SpanDelivery { SpanDelivery(code: code, output: Array(text.utf8), count: 10) }
    #expect(read(0, "{}") == .taken(refused: 0, ""))
    #expect(read(0, "{\"rejected\": 3, \"message\": \"x\\u001b\"}") == .taken(refused: 3, "x\\u{1b}"))
    #expect(read(0, "{\"rejected\": 99999999999}") == .taken(refused: 10, "") && read(0, "{\"rejected\": -4}") == .taken(refused: 0, ""))
    #expect(read(1, "{\"message\": \"no\"}") == .refused("no"))
    #expect(read(75, "{\"message\": \"busy\", \"retry_after_ms\": 1500}") == .later("busy", pause: .milliseconds(1500)))
    #expect(read(127, "garbage") == .later("taskhost-notify ended with code 127", pause: nil))
  }

  @Test(
    "/v1/traces is appended unless the endpoint ends so",
    arguments: [
      ("http://a:4318", "http://a:4318/v1/traces"), ("http://a:4318/", "http://a:4318/v1/traces"),
      ("https://a/otlp", "https://a/otlp/v1/traces"), ("https://a/otlp/v1/traces", "https://a/otlp/v1/traces"),
      ("https://a/v1/traces/", "https://a/v1/traces"), ("https://a?key=1", "https://a/v1/traces?key=1"),
    ])
  func urls(_ endpoint: String, _ url: String) {
    var traces = HostConfiguration.Traces()
    traces.endpoint = endpoint
    #expect(traces.url == url)
  }
}
