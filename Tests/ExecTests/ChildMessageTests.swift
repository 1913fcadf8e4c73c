import CTaskHost
import TaskHostSDK
import Testing

@testable import Exec

@Suite("Lines of a persistent child") struct ChildMessageTests {
  private func read(_ line: String) throws(ChildMessage.Flaw) -> ChildMessage { try ChildMessage(Array(line.utf8), run: 7) }

  @Test("progress, log lines and results are read")
  func sound() throws {
    #expect(
      try read(#"{"type":"progress","run":7,"completed":3,"total":10}"#)
        == .progress(completed: 3, total: 10, unit: nil, message: nil))
    #expect(try read(#"{"type":"progress","run":7,"completed":3}"#) == .progress(completed: 3, total: 0, unit: nil, message: nil))
    #expect(
      try read(#"{"type":"progress","run":7,"completed":3,"unit":"files","message":"copying"}"#)
        == .progress(completed: 3, total: 0, unit: "files", message: "copying"))
    #expect(
      try read(#"{"type":"work","run":7,"items_completed":3,"bytes_out":9}"#) == .work(WorkCounts(completed: 3, bytesOut: 9)))
    #expect(try read(#"{"type":"log","run":7,"message":"x"}"#) == .log(level: TASKHOST_INFO, "x"))
    #expect(try read(#"{"type":"log","run":7,"message":"x","level":"error"}"#) == .log(level: TASKHOST_ERROR, "x"))
    #expect(
      try read(#"{"type":"result","run":7,"result":"success","output":{"a": [1,2]}}"#)
        == .result(.success, output: Array(#"{"a": [1,2]}"#.utf8), message: nil))
    #expect(
      try read(#"{"type":"result","run":7,"result":"retry","retry_after_ms":1500,"message":"later"}"#)
        == .result(.retry(after: .milliseconds(1500)), output: nil, message: "later"))
    #expect(
      try read(#"{"type":"result","run":7,"result":"snooze","retry_after_ms":0}"#)
        == .result(.snooze(after: .zero), output: nil, message: nil))
  }

  private static func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }

  @Test("arrays and objects in a line are nested up to 128 deep")
  func depth() throws {
    let deepest = Self.nested(127)
    #expect(
      try read(#"{"type":"result","run":7,"result":"success","output":\#(deepest)}"#)
        == .result(.success, output: Array(deepest.utf8), message: nil))
    #expect(try read(Self.nested(2000)) == .text, "it is no object, so it is not the result")
  }

  @Test("what is no object is text", arguments: ["", "hello", "[1]", "7", "{\"type\":", "{\"a\":1} {\"b\":2}", "\"text\""])
  func text(_ line: String) throws {
    let message = try read(line)
    #expect(message == .text)
  }

  @Test(
    "a flaw is named, and is fatal only in a result",
    arguments: [
      (#"{}"#, "without \"type\"", false), (#"{"type":7}"#, "without \"type\"", false), (#"{"type":"log"}"#, "without \"run\"", false),
      (#"{"type":"result"}"#, "without \"run\"", true), (#"{"type":"result","run":6,"result":"success"}"#, "for run 6", false),
      (#"{"type":"result","run":7}"#, "found none", true), (#"{"type":"result","run":7,"result":0}"#, "found a number", true),
      (#"{"type":"result","run":7,"result":"ok"}"#, "found \"ok\"", true),
      (#"{"type":"result","run":7,"result":"retry","retry_after_ms":-1}"#, "retry_after_ms", true),
      (#"{"type":"result","run":7,"result":"retry","message":1}"#, "message", true),
      (#"{"type":"progress","run":7}"#, "completed", false), (#"{"type":"progress","run":7,"completed":1.5}"#, "completed", false),
      (#"{"type":"progress","run":7,"completed":1,"total":-2}"#, "total", false), (#"{"type":"log","run":7}"#, "message", false),
      (#"{"type":"result","run":7,"result":"success","output":"# + Self.nested(2000) + "}", "more than 128 deep", true),
      (" " + #"{"output":"# + Self.nested(128) + #","type":"result","run":7,"result":"success"}"#, "more than 128 deep", true),
      (#"{"type":"log","run":7,"message":"x","level":"loud"}"#, "loud", false), (#"{"type":"sing","run":7}"#, "sing", false),
    ])
  func flaws(_ line: String, _ words: String, _ isResult: Bool) {
    do throws(ChildMessage.Flaw) {
      Issue.record("\(try read(line)) was read")
    } catch {
      #expect(error.sentence.contains(words) && error.isResult == isResult, "\(error)")
    }
  }
}
