import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("The payload with the outputs of predecessors") struct MergedPayloadTests {
  private func merged(_ submitted: String, _ outputs: String...) throws -> String {
    let edges = outputs.enumerated().map { index, output in
      DependencyRecord(
        predecessor: RequestID(sequence: Int64(index + 1), origin: 1), onFailure: .fail, ended: .succeeded, output: Array(output.utf8))
    }
    return String(decoding: try MergedPayload.of(Array(submitted.utf8), edges), as: UTF8.self)
  }

  @Test("without outputs it is what was submitted, of whatever kind")
  func none() throws {
    #expect(try merged("") == "")
    #expect(try merged("\u{1}no JSON", "", "") == "\u{1}no JSON")
  }

  @Test("one output alone is taken byte for byte, of whatever kind")
  func one() throws {
    #expect(try merged("", "", " [1, 2] \n", "") == " [1, 2] \n")
  }

  @Test("members keep their text and their first place, the last value wins")
  func members() throws {
    #expect(
      try merged(#"{"a":1.50}"#, #" { "b" : {"x":[1,{"y":"}"}],"z":{}} , "a" : null } "#) == #"{"b" : {"x":[1,{"y":"}"}],"z":{}},"a":1.50}"#
    )
    #expect(try merged("", #"{"a":1,"a":2,"":[]}"#, #"{"b":true,"":-1e5}"#) == #"{"a":2,"":-1e5,"b":true}"#)
    // The same name, written otherwise.
    #expect(try merged("", #"{"\u0061":1}"#, #"{"a":2}"#) == #"{"a":2}"#)
    #expect(try merged("{}", "{}", "{}") == "{}")
  }

  @Test(
    "what is no JSON object is named",
    arguments: ["[]", "1", "{", "{}{}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":[1,]}"#, #"{a:1}"#, #"{"a":{"b":]}}"#])
  func wrong(_ text: String) throws {
    #expect(throws: MergedPayload.Failure.self) { try merged(text, "{}") }
    #expect {
      try merged("", "{}", text)
    } throws: { error in
      (error as? MergedPayload.Failure)?.message.contains("the output of \(RequestID(sequence: 2, origin: 1)) is not a JSON object") == true
    }
  }

  @Test("a value nested as deep as a payload allows is skipped")
  func deep() throws {
    let value = String(repeating: "[", count: 30_000) + String(repeating: "]", count: 30_000)
    #expect(try merged(#"{"a":1}"#, #"{"b":\#(value)}"#) == #"{"b":\#(value),"a":1}"#)
  }

  @Test("what did not succeed gives nothing")
  func ended() throws {
    let edges = [RequestState.failed, .cancelled, nil].enumerated().map { index, ended in
      DependencyRecord(predecessor: RequestID(sequence: Int64(index), origin: 1), onFailure: .ignore, ended: ended, output: [1])
    }
    #expect(try MergedPayload.of([2], edges) == [2])
  }
}
