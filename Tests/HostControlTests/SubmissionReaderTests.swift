import TaskModel
import Testing

@testable import HostControl

@Suite("Reading submissions") struct SubmissionReaderTests {
  private func read(_ text: String) throws -> (requests: [TaskRequest], isArray: Bool) {
    try SubmissionReader.read(Array(text.utf8))
  }

  @Test("every member arrives")
  func allMembers() throws {
    let (requests, isArray) = try read(
      """
      {"identifier": "org.example.a", "payload": { "x" : 1.0 }, "delay_ms": 500, "every_ms": 60000, "priority": -10,
       "conditions": ["network", "power"], "unique_key": "k", "on_conflict": "replace",
       "retry": {"attempts": 2, "backoff": "linear", "initial_ms": 100, "maximum_ms": 200}, "tags": ["a", "b"]}
      """)
    #expect(!isArray)
    let request = try #require(requests.first)
    #expect(request.identifier.rawValue == "org.example.a")
    #expect(request.payload == Array("{ \"x\" : 1.0 }".utf8))
    #expect(request.delay == .milliseconds(500))
    #expect(request.repetition == RepeatRule(every: .seconds(60)))
    #expect(request.priority == -10)
    #expect(request.conditions == [.network, .power])
    #expect(request.uniqueKey == "k")
    #expect(request.onConflict == .replace)
    #expect(request.retry == RetryPolicy(attempts: 2, backoff: .linear, initial: .milliseconds(100), maximum: .milliseconds(200)))
    #expect(request.tags == ["a", "b"])
  }

  @Test("what is left out has its default; a key alone keeps its holder")
  func defaults() throws {
    #expect(try read("{\"identifier\":\"a\"}").requests == [TaskRequest(identifier: try TaskIdentifier("a"))])
    #expect(try read("{\"identifier\":\"a\",\"unique_key\":\"k\"}").requests.first?.onConflict == .keep)
  }

  @Test(
    "a payload is kept byte for byte",
    arguments: ["null", "\"\\u0041\"", "[1,  2]", "{\"a\":1,\"a\":2}", "1e400", "\"é\""])
  func payload(_ payload: String) throws {
    #expect(try read("{\"payload\": \(payload) ,\"identifier\":\"a\"}").requests.first?.payload == Array(payload.utf8))
  }

  @Test("payload_base64 carries any bytes")
  func base64() throws {
    #expect(try read("{\"identifier\":\"a\",\"payload_base64\":\"/wA=\"}").requests.first?.payload == [0xFF, 0])
  }

  /// Body, code, field.
  static let malformed: [(String, RequestRefusal.Code, String?)] = [
    ("", .invalid, nil),
    ("{", .invalid, nil),
    ("[]", .invalid, nil),
    ("1", .invalid, nil),
    ("[1]", .invalid, "[0]"),
    ("{}", .invalid, "identifier"),
    ("{\"identifier\":1}", .invalid, "identifier"),
    ("{\"identifier\":\"\"}", .invalid, "identifier"),
    ("{\"identifier\":\"a b\"}", .invalid, "identifier"),
    ("[{\"identifier\":\"a\"},{\"identifier\":\"a\",\"priority\":\"1\"}]", .invalid, "[1].priority"),
    ("{\"identifier\":\"a\",\"priority\":11}", .invalid, "priority"),
    ("{\"identifier\":\"a\",\"priority\":1.5}", .invalid, "priority"),
    ("{\"identifier\":\"a\",\"delay_ms\":-1}", .invalid, "delay_ms"),
    ("{\"identifier\":\"a\",\"delay_ms\":1,\"earliest_begin_unix_ms\":1}", .invalid, "earliest_begin_unix_ms"),
    ("{\"identifier\":\"a\",\"earliest_begin\":\"tomorrow\"}", .invalid, "earliest_begin"),
    ("{\"identifier\":\"a\",\"every_ms\":0}", .invalid, "every_ms"),
    ("{\"identifier\":\"a\",\"every_ms\":99999999999999999999}", .invalid, "every_ms"),
    ("{\"identifier\":\"a\",\"conditions\":[\"network\",\"netwrok\"]}", .invalid, "conditions[1]"),
    ("{\"identifier\":\"a\",\"conditions\":\"network\"}", .invalid, "conditions"),
    ("{\"identifier\":\"a\",\"unique_key\":\"\"}", .invalid, "unique_key"),
    ("{\"identifier\":\"a\",\"on_conflict\":\"keep\"}", .invalid, "unique_key"),
    ("{\"identifier\":\"a\",\"unique_key\":\"k\",\"on_conflict\":\"none\"}", .invalid, "on_conflict"),
    ("{\"identifier\":\"a\",\"unique_key\":\"k\",\"on_conflict\":\"kep\"}", .invalid, "on_conflict"),
    ("{\"identifier\":\"a\",\"retry\":5}", .invalid, "retry"),
    ("{\"identifier\":\"a\",\"retry\":{\"attempts\":0}}", .invalid, "retry.attempts"),
    ("{\"identifier\":\"a\",\"retry\":{\"initial_ms\":900,\"maximum_ms\":800}}", .invalid, "retry.initial_ms"),
    // The limits of the configuration.
    ("{\"identifier\":\"a\",\"retry\":{\"attempts\":1001}}", .invalid, "retry.attempts"),
    ("{\"identifier\":\"a\",\"retry\":{\"attempts\":1000,\"initial_ms\":99}}", .invalid, "retry.initial_ms"),
    ("{\"identifier\":\"a\",\"retry\":{\"initial_ms\":100,\"maximum_ms\":99}}", .invalid, "retry.maximum_ms"),
    ("{\"identifier\":\"a\",\"retry\":{\"maximum_ms\":2592000001}}", .invalid, "retry.maximum_ms"),
    ("{\"identifier\":\"a\",\"retry\":{\"atempts\":1}}", .invalid, "retry.atempts"),
    ("{\"identifier\":\"a\",\"tags\":[1]}", .invalid, "tags[0]"),
    ("{\"identifier\":\"a\",\"tags\":[\"\"]}", .invalid, "tags[0]"),
    ("{\"identifier\":\"a\",\"payload\":1,\"payload_base64\":\"\"}", .invalid, "payload_base64"),
    ("{\"identifier\":\"a\",\"payload_base64\":\"x\"}", .invalid, "payload_base64"),
    ("{\"identifier\":\"a\",\"priorty\":1}", .invalid, "priorty"),
    ("{\"identifier\":\"a\",\"identifier\":\"b\"}", .invalid, nil),
  ]

  @Test("what is malformed is refused, naming the field", arguments: malformed)
  func refused(_ body: String, _ code: RequestRefusal.Code, _ field: String?) {
    let error = #expect(throws: RequestRefusal.self) { try read(body) }
    #expect(error?.code == code)
    #expect(error?.field == field)
  }

  @Test("an unknown member is answered with the nearest known one")
  func nearest() {
    let error = #expect(throws: RequestRefusal.self) { try read("{\"identifier\":\"a\",\"priorty\":1}") }
    #expect(error?.message.contains("did you mean \"priority\"?") == true)
  }

  @Test("a payload and an array that are too big are refused as such")
  func tooBig() {
    let payload = "\"" + String(repeating: "x", count: Limits.payloadBytes) + "\""
    let big = #expect(throws: RequestRefusal.self) { try read("{\"identifier\":\"a\",\"payload\":\(payload)}") }
    #expect(big?.code == .tooBig)
    let many = "[" + Array(repeating: "{\"identifier\":\"a\"}", count: SubmissionReader.maximumRequests + 1).joined(separator: ",") + "]"
    let long = #expect(throws: RequestRefusal.self) { try read(many) }
    #expect(long?.code == .tooBig)
  }

  @Test("malformed JSON is refused with its position")
  func position() {
    let error = #expect(throws: RequestRefusal.self) { try read("{\n\"identifier\": x}") }
    #expect(error?.message.contains("line 2, column 15") == true)
  }

  @Test("a traceparent is the member's, else the header's, for each request of an array")
  func traceparent() throws {
    let member = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let header = try #require(TraceParent("00-0af7651916cd43dd8448eb211c80319c-0000000000000001-00"))
    let body = #"[{"identifier":"a"},{"identifier":"a","traceparent":"\#(member)"}]"#
    let requests = try SubmissionReader.read(Array(body.utf8), traceparent: header).requests
    #expect(requests.map(\.traceparent) == [header, TraceParent(member)])
    #expect(throws: RequestRefusal.self) {
      try SubmissionReader.read(Array(#"{"identifier":"a","traceparent":"00-1-2-3"}"#.utf8))
    }
  }
}
