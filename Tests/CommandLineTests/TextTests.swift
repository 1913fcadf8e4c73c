import CalendarTime
import ControlTestSupport
import StrictText
import TaskModel
import TestSupport
import Testing
@testable import TaskHostClient
@testable import taskhost

@Suite("What people write and read") struct TextTests {
  @Test(
    "durations are read",
    arguments: [
      ("0s", 0), ("500ms", 500), ("90s", 90_000), ("15m", 900_000), ("1h30m", 5_400_000), ("2d", 172_800_000), ("1w", 604_800_000),
      ("1m500ms", 60_500),
    ])
  func duration(_ text: String, _ milliseconds: Int64) {
    #expect(DurationArgument.parse(text) == milliseconds)
  }

  @Test(
    "what is not a duration is refused",
    arguments: ["", "5", "m", "1.5h", "-5m", "5 m", "30m1h", "1m1m", "99999999999999999999s", "9999999999999999w", "5x"])
  func noDuration(_ text: String) {
    #expect(DurationArgument.parse(text) == nil)
  }

  @Test(
    "durations are written with their two largest units",
    arguments: [
      (0, "0ms"), (999, "999ms"), (1500, "1.5s"), (2000, "2s"), (61_000, "1m 1s"), (3_600_000, "1h"), (5_400_000, "1h 30m"),
      (90_000_000, "1d 1h"), (-1500, "-1.5s"),
    ])
  func durationText(_ milliseconds: Int64, _ text: String) {
    #expect(DurationFormat.words(milliseconds: milliseconds) == text)
  }

  @Test(
    "times are told from now",
    arguments: [
      (0, "now"), (1, "in 1 s"), (999, "in 1 s"), (-999, "now"), (1001, "in 2 s"), (4000, "in 4 s"), (-3000, "3 s ago"),
      (240_000, "in 4 min"), (-7_200_000, "2 h ago"), (259_200_000, "in 3 d"),
    ])
  func relative(_ difference: Int64, _ text: String) {
    #expect(MomentFormat.relative(1_000_000_000 + difference, now: 1_000_000_000) == text)
  }

  @Test(
    "a time that clocks leave out is told from one that is none, and of one that they show twice the first is meant",
    arguments: [
      ("--at", "2026-03-29 02:30", 2, "write '2026-03-29 03:30:00'"),
      ("--deadline", "2026-03-29 02:00:00", 2, "write '2026-03-29 03:00:00'"),
      ("--at", "2026-02-30 08:00", 2, "is not a moment"), ("--at", "2026-10-25 24:00", 2, "is not a moment"),
      ("--at", "2026-10-25 02:30", 0, ""), ("--at", "2026-03-29 03:00", 0, ""), ("--at", "2026-03-29 01:59:59", 0, ""),
    ])
  func daylight(_ option: String, _ text: String, _ status: Int32, _ words: String) async throws {
    let host = MemoryHost()
    let moments = ["2026-10-25 02:30": 1_792_888_200_000, "2026-03-29 03:00": 1_774_746_000_000, "2026-03-29 01:59:59": 1_774_745_999_000]
    try await ControlFixture.with(host) { fixture in
      let result = try await TaskHostProcess.run(
        ["submit", "a", option, text], environment: ["TASKHOST_SOCKET": fixture.socket, "TZ": "Europe/Berlin"])
      #expect(result.status == status, "\(result)")
      #expect(result.errors.contains(words) || words.isEmpty, "\(result)")
    }
    #expect(host.submitted.first?.earliestBegin?.unixMilliseconds == moments[text].map { Int64($0) })
  }

  @Test("the ends of the range are far away")
  func extremes() {
    #expect(MomentFormat.relative(.max, now: -1).hasPrefix("in "))
    #expect(MomentFormat.relative(.min, now: 0).hasSuffix(" ago"))
  }

  private func parsed(_ text: String) -> WallTime? { if case .moment(let time) = MomentText.read(text) { time } else { nil } }

  @Test("a local time is read back as it is written, and what does not exist is refused")
  func local() throws {
    let moment = try #require(parsed("2026-11-21 08:00"))
    #expect(MomentFormat.withoutZone(moment.unixMilliseconds) == "2026-11-21 08:00:00")
    #expect(parsed("2026-11-21T08:00:00") == moment)
    #expect(parsed("2026-11-21T08:00:00Z") == WallTime(unixMilliseconds: 1_795_248_000_000))
    for text in ["2026-02-30 08:00", "2026-11-21", "2026-11-21 25:00", "tomorrow", "2026-11-21 08", "2026-11-21 08:00:00:00", ""] {
      #expect(parsed(text) == nil, "\(text)")
    }
  }

  @Test("a table's columns are aligned, nothing is left at a line's end, control characters are escaped")
  func table() {
    var table = TextTable("ID", "STATE", "LAST")
    table.add("1", "running", "")
    table.add("22222", "failed", "a\u{1B}[31m")
    #expect(table.render(colours: false) == ["ID     STATE    LAST", "1      running", "22222  failed   a\\u{1b}[31m"])
    #expect(table.render(colours: true)[1] == "1      \u{1B}[34mrunning\u{1B}[0m")
  }

  @Test("at a terminal, a table's lines fit: the widest column gives way first, ids are shortened, names lose their beginnings")
  func fittingTable() {
    var table = TextTable(.id("ID"), .name("IDENTIFIER"), "STATE", "MESSAGE")
    let ids = ["01976c1e-0000-7000-8000-000000000000", "01976c1e-0001-7000-8000-000000000000"]
    table.add(ids[0], "com.example.of-a-long-name.report", "failed", "the disk is full, so nothing was written")
    table.add(ids[1], "com.example.short", "pending", "")
    #expect(
      table.render(fitting: 60, colours: false) == [
        "ID             IDENTIFIER         STATE    MESSAGE",
        "01976c1e-0000  …long-name.report  failed   the disk is full…",
        "01976c1e-0001  com.example.short  pending",
      ])
    for room in 13...140 {
      #expect(table.render(fitting: room, colours: false).allSatisfy { DisplayWidth.of($0) <= room }, "\(room)")
    }
    #expect(table.render(fitting: 20, colours: false)[1] == "01976c1e-0000  …ort")
    #expect(table.render(fitting: 60, colours: true)[1].contains("\u{1B}[31mfailed\u{1B}[0m"))
    #expect(table.render(colours: false)[1].hasSuffix("nothing was written"))
  }

  @Test("a text of several lines keeps its lines and tabs and has no other control character, be it of one byte or of two")
  func terminal() {
    let red = "red\u{1B}[31m\t\u{9B}1m\u{202E}\r\nnext\u{7}".escapingAllButLines
    #expect(red == "red\\u{1b}[31m\t\\u{9b}1m\\u{202e}\\r\nnext\\u{7}")
    let plain = "{\"text\": \"Räumung → fertig\"}\n"
    #expect(plain.escapingAllButLines == plain)
  }

  @Test("events are cut from a stream, however it is split")
  func events() {
    let stream = Array(": subscribed\n\nevent: run\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n:ping\ndata:x\n\nevent: none\n\n".utf8)
    for size in 1...stream.count {
      var parser = ServerSentEventParser()
      var events: [ServerSentEvent] = []
      for start in stride(from: 0, to: stream.count, by: size) {
        events += parser.feed(stream[start..<min(start + size, stream.count)])
      }
      #expect(
        events == [.comment("subscribed"), .event("run", Array("{\"a\":\n1}".utf8)), .comment("ping"), .event("", Array("x".utf8))])
    }
  }

  private static let schedules: [(String, String?, String)] = [
    ("{\"next_start_unix_ms\":1000000}", nil, "starts now"),
    (
      "{\"effective\":{\"next_start_unix_ms\":999000,\"latest_start_unix_ms\":999000,\"every_ms\":21600000}}", nil,
      "starts now, then every 6h"
    ),
    (
      "{\"effective\":{\"next_start_unix_ms\":1240000,\"latest_start_unix_ms\":3040000,\"cron\":\"0 8 * * *\",\"time_zone\":\"UTC\"}}", nil,
      "starts TIME (in 4 min) or up to 30m later, then 0 8 * * * UTC"
    ),
    ("{\"effective\":{\"next_start_unix_ms\":null,\"every_event\":true}}", "the event x", "waits for the event x, then every event"),
    ("{\"effective\":{\"next_start_unix_ms\":null}}", nil, "waits for an event or another request"),
    ("{\"effective\":{\"next_start_unix_ms\":0,\"deadline_unix_ms\":1240000}}", nil, "starts now, deadline TIME (in 4 min)"),
  ]

  @Test("the effective schedule is told in words", arguments: schedules)
  func schedule(_ answer: String, _ waited: String?, _ words: String) throws {
    let text = "{\"id\":\"i\",\"disposition\":\"created\",\"notes\":[]," + answer.dropFirst()
    let submission: SubmissionAnswer = try Answer(Array(text.utf8)).read()
    let told = ScheduleText.start(of: submission.schedule, waitingFor: waited, now: 1_000_000)
    #expect(told == words.split(separator: "TIME", omittingEmptySubsequences: false).joined(separator: MomentFormat.local(1_240_000)))
  }

  @Test("when a request runs, ran or is woken")
  func when() throws {
    func when(_ request: String) throws -> String {
      let text =
        #"{"id":"i","identifier":"a","attempt":1,"attempts_spent":0,"losses":0,"tags":[],"# + request.dropFirst()
      return ScheduleText.when(try Answer(Array(text.utf8)).read(), now: 1_000_000)
    }
    #expect(try when("{\"state\":\"pending\",\"due_unix_ms\":1240000}") == "in 4 min")
    #expect(try when("{\"state\":\"pending\",\"due_unix_ms\":760000}") == "due 4 min ago")
    #expect(try when("{\"state\":\"pending\",\"due_unix_ms\":999900}") == "now")
    #expect(try when("{\"state\":\"failed\",\"due_unix_ms\":1240000,\"ended_unix_ms\":760000}") == "4 min ago")
    #expect(try when("{\"state\":\"running\",\"started_unix_ms\":1000000}") == "now")
    #expect(try when("{\"state\":\"blocked\",\"due_unix_ms\":0}") == "after another")
    #expect(try when("{\"state\":\"pending\",\"due_unix_ms\":null,\"event\":\"x\"}") == "on x")
    #expect(try when("{\"state\":\"pending\",\"due_unix_ms\":null,\"watch\":\"/x\"}") == "on /x")
  }
}
