import Testing

@testable import TaskHostClient
@testable import taskhost

@Suite("Reading the host's answers") struct AnswerTests {
  private struct Wanted: Decodable, Equatable {
    struct Part: Decodable, Equatable {
      let n: Int64
    }

    let dueUnixMs: Int64?
    let failuresInARow: Int64
    let tags: [String]
    let parts: [Part]
    let last: Part?
  }

  private func read<Value: Decodable>(_ json: String, as type: Value.Type = Wanted.self) throws -> Value {
    try Answer(Array(json.utf8)).read(type)
  }

  @Test("members are found by their names in JSON, others are left alone, those that may be missing are nil where they are or are null")
  func members() throws {
    let wanted = Wanted(dueUnixMs: 5, failuresInARow: 2, tags: ["x"], parts: [.init(n: 1), .init(n: 2)], last: nil)
    let required = #""failures_in_a_row":2,"tags":["x"],"parts":[{"n":1},{"n":2}]"#
    #expect(try read("{\"due\":\"x\",\"due_unix_ms\":5,\"later\":[{}],\"last\":null,\(required)}") == wanted)
    #expect(try read("{\"due_unix_ms\":null,\(required)}").dueUnixMs == nil)
    #expect(try read("{\(required)}").dueUnixMs == nil)
    // Neither another case nor a name that only begins like it.
    #expect(try read("{\"dueUnixMs\":5,\"due_unix_m\":5,\"due_unix_ms_\":5,\(required)}").dueUnixMs == nil)
  }

  @Test(
    "an answer that lacks a member, or has something else there, is refused by the member's name",
    arguments: [
      (#"{"tags":[],"parts":[]}"#, "failures_in_a_row is missing"),
      (#"{"failures_in_a_row":1.5,"tags":[],"parts":[]}"#, "failures_in_a_row is a number with a fraction or too many digits, not a whole"),
      (#"{"failures_in_a_row":1,"tags":[1],"parts":[]}"#, "tags is a number, not a string"),
      (#"{"failures_in_a_row":1,"tags":{},"parts":[]}"#, "tags is an object, not an array"),
      (#"{"failures_in_a_row":1,"tags":[],"parts":[{}]}"#, "n is missing"),
      (#"{"failures_in_a_row":1,"tags":[],"parts":[],"last":7}"#, "last is a number, not an object"),
      ("[]", "it is an array, not an object"),
    ])
  func refused(_ json: String, _ words: String) throws {
    let failure = try #require(throws: TaskHostError.self) { try read(json) }
    #expect(failure.kind == .unexpected && CommandFailure(failure).status == .refused && failure.description.contains(words), "\(failure)")
  }

  @Test("what others wrote is passed on byte for byte, whatever it is")
  func passedOn() throws {
    let run = #"{"id":"r","request":"q","identifier":"i","attempt":1,"started_unix_ms":1,"output":OUTPUT,"message":"m"}"#
    for output in [#"{ "a" : 1.50, "a": [] }"#, "null", "\"\\u0041\""] {
      let answer: RunAnswer = try read(run.replacing("OUTPUT", with: output), as: RunAnswer.self)
      #expect(answer.output.map { String(decoding: $0.bytes, as: UTF8.self) } == output)
      #expect(answer.message == "m")
    }
    let lines = #"{"run":"r","lines":[{"time_unix_ms":1, "level":"info","message":"m","more":1} ]}"#
    let line = try #require(try read(lines, as: LogAnswer.self).lines.first)
    #expect(line.value == LogLineAnswer(timeUnixMs: 1, level: "info", message: "m", stream: nil))
    #expect(String(decoding: line.json.bytes, as: UTF8.self) == #"{"time_unix_ms":1, "level":"info","message":"m","more":1}"#)
  }

  @Test("schedules whose keys begin alike are one row, with what ended last and what starts first; one that fails has its own")
  func scheduleRows() throws {
    func task(_ key: String?, _ more: String = "", failures: Int = 0, identifier: String = "a") throws -> ScheduleAnswer {
      let key = key.map { ",\"unique_key\":\"\($0)\"" } ?? ""
      let json = "{\"identifier\":\"\(identifier)\"\(key),\"last\":\"noop\",\"failures_in_a_row\":\(failures)\(more)}"
      return try read(json, as: ScheduleAnswer.self)
    }
    let event = #","every_event":true,"next_start_unix_ms":null"#
    let rows = ScheduleRow.rows(of: [
      try task("next", #","every_ms":21600000,"next_start_unix_ms":90"#),
      try task("watch/crm", event + #","last_ended_unix_ms":20,"last_message":"late","last_success_unix_ms":10"#),
      try task("watch/lone", event, failures: 2), try task("watch/mail", event + #","last_ended_unix_ms":10,"last_success_unix_ms":15"#),
      try task("watch/shop", #","next_start_unix_ms":7"#), try task("watch/x", event, identifier: "b"), try task("/x", event),
      try task("watch/y", event),
    ])
    #expect(
      rows.map { "\($0.task.identifier) \($0.schedule)" } == [
        "a next: every 6h", "a watch/*: every event (3)", "a watch/lone: every event", "a watch/shop", "b watch/x: every event",
        "a /x: every event",
      ])
    let merged = rows[1].task
    #expect(merged.lastMessage == "late" && merged.lastEndedUnixMs == 20 && merged.lastSuccessUnixMs == 15)
    #expect(merged.nextStartUnixMs == .unknown && rows[2].task.failuresInARow == 2)
    let timed = ScheduleRow.rows(of: [
      try task("t/1", #","next_start_unix_ms":9"#), try task("t/2", #","next_start_unix_ms":8"#), try task("t/3"),
    ])
    #expect(timed.map(\.schedule) == ["t/* (3)"] && timed[0].task.nextStartUnixMs == .at(unixMs: 8))
  }

  @Test("a schedule's next start is missing, null or a moment")
  func nextStart() throws {
    func start(_ member: String) throws -> ScheduleAnswer.Start {
      try read(#"{"identifier":"a","last":"never","failures_in_a_row":0"# + member + "}", as: ScheduleAnswer.self).nextStartUnixMs
    }
    #expect(try start("") == .none)
    #expect(try start(#","next_start_unix_ms":null"#) == .unknown)
    #expect(try start(#","next_start_unix_ms":5"#) == .at(unixMs: 5))
  }
}
