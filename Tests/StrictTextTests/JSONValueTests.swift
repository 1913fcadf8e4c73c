import Foundation
import StrictText
import Testing

@Suite("JSON values") struct JSONValueTests {
  @Test("each kind of value is read and written again as it was")
  func kinds() throws {
    let text = #"{"a":[null,true,-7,18446744073709551615,0.5,"x"],"b":{}}"#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(
      value == .object(["a": .array([.null, .bool(true), .integer(-7), .unsigned(.max), .number(0.5), .string("x")]), "b": .object([:])]))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
  }

  @Test("a value's kind has a name")
  func kindNames() {
    let values: [JSONValue] = [.null, .bool(true), .integer(1), .unsigned(.max), .number(1.5), .string(""), .array([]), .object([:])]
    #expect(
      values.map(\.kindName) == ["null", "a boolean", "a number", "a number", "a number", "a string", "an array", "an object"])
  }
}
