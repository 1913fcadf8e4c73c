import CalendarTime
import RecordJSON
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("JSON that is written") struct JSONWriterTests {
  private func written(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test(
    "moments are written as they are formatted, with their milliseconds beside them",
    arguments: [0, 1, 999, 1000, 1_763_712_000_123, -1, -1000, 253_402_300_799_999, -62_167_219_200_000] as [Int64])
  func moments(_ milliseconds: Int64) throws {
    let time = WallTime(unixMilliseconds: milliseconds)
    let text = try #require(RFC3339.format(time))
    #expect(written { $0.moment("due", time) } == #"{"due":"\#(text)","due_unix_ms":\#(milliseconds)}"#)
    #expect(written { $0.momentOrNull("due", time) } == written { $0.moment("due", time) })
  }

  @Test("a moment that has no text is a number only; one that never comes is null")
  func momentsWithoutText() {
    let late = WallTime(unixMilliseconds: 253_402_300_800_000)
    #expect(written { $0.moment("due", late) } == #"{"due_unix_ms":253402300800000}"#)
    #expect(written { $0.momentOrNull("due", .distantFuture) } == #"{"due":null,"due_unix_ms":null}"#)
    #expect(written { $0.moment("due", nil) } == "{}")
  }

  @Test("numbers have their digits", arguments: [0, 9, 10, 99, 100, .max, -1, .min] as [Int64])
  func numbers(_ number: Int64) {
    #expect(written { $0.member("n", number) } == #"{"n":\#(number)}"#)
  }

  @Test("every number without a sign is written too")
  func largest() { #expect(written { $0.member("n", UInt64.max) } == #"{"n":18446744073709551615}"#) }

  @Test(
    "what must be escaped is, in names and in values; the rest is as it was",
    arguments: [
      ("plain", "plain"), ("", ""), ("a\"b\\c", #"a\"b\\c"#), ("\n\r\t", #"\n\r\t"#), ("\u{0}\u{1f}\u{7f}", #"\u0000\u001f\u007f"#),
      ("zürich 🦉", "zürich 🦉"), (String(repeating: "long ", count: 20) + "\"", String(repeating: "long ", count: 20) + #"\""#),
    ])
  func escapes(_ text: String, _ escaped: String) {
    #expect(written { $0.member(text, text) } == #"{"\#(escaped)":"\#(escaped)"}"#)
  }

  @Test("the answers to an array are those to each of its submissions, alike or not")
  func submissions() {
    func one(_ id: Int64, at time: Int64 = 5, notes: [String] = []) -> Submission {
      Submission(
        id: RequestID(sequence: id, origin: 7), disposition: .created, nextStart: WallTime(unixMilliseconds: time), notes: notes)
    }
    let all = [one(1), one(2), one(3, notes: ["raised"]), one(4, notes: ["raised"]), one(5), one(6, at: 6), one(6, at: 6)]
    let together = JSONWriter.object { $0.submissions("requests", all) }
    let apart = JSONWriter.object { $0.array("requests", all) { $0.submission($1) } }
    #expect(String(decoding: together, as: UTF8.self) == String(decoding: apart, as: UTF8.self))
    #expect(JSONWriter.object { $0.submissions("requests", []) } == Array("{\"requests\":[]}".utf8))
  }
}
