import StrictText
import Testing

@Suite("JSON reader") struct JSONReaderTests {
  private func read(_ text: String) throws -> JSONNode { try JSONReader.read(Array(text.utf8)) }

  @Test(
    "accepts every kind of value",
    arguments: [
      "null", "true", "false", "0", "-0", "12", "-1.5e+10", "0.25", "\"\"", "\"a\\u00e9\\n\\ud83d\\ude00\"", "[]", "[1, 2]", "{}",
      " { \"a\" : [ { \"b\" : null } ] } \n",
    ])
  func accepts(_ text: String) throws {
    _ = try read(text)
    #expect(JSONReader.isValid(Array(text.utf8)))
  }

  @Test(
    "refuses what RFC 8259 does not allow",
    arguments: [
      "", " ", "nul", "True", "01", "-", "1.", ".5", "1e", "+1", "0x10", "NaN", "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\t\"", "[1,]",
      "[1 2]",
      "[", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}", "1 2", "\"\\ud800\"", "\"\\udc00\"",
      "\"\\ud800\\u0041\"",
      "[1]]", "\u{FEFF}1", "// c\n1",
    ])
  func refuses(_ text: String) {
    #expect(throws: JSONSyntaxError.self) { try read(text) }
  }

  @Test(
    "refuses bytes that are not UTF-8",
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xFF],
    ] as [[UInt8]])
  func refusesBadUTF8(_ bytes: [UInt8]) {
    let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
    #expect(throws: JSONSyntaxError.self) { try JSONReader.read(quoted) }
  }

  @Test("reads integers exactly up to the ends of Int64")
  func integers() throws {
    #expect(try read("9223372036854775807").integer == .max)
    #expect(try read("-9223372036854775808").integer == .min)
    #expect(try read("9223372036854775808").integer == nil)
    #expect(try read("99999999999999999999").integer == nil)
    #expect(try read("1.0").integer == nil)
  }

  @Test("a position is a line and a character")
  func position() {
    let error = #expect(throws: JSONSyntaxError.self) { try read("{\n  \"é\": x}") }
    #expect(error?.line == 2)
    #expect(error?.column == 8)
  }

  @Test("a name that comes twice is refused, also among many, also when it is written differently")
  func duplicates() {
    #expect(throws: JSONSyntaxError.self) { try read("{\"a\":1,\"\\u0061\":2}") }
    let many = (0..<40).map { "\"k\($0)\":1" }.joined(separator: ",")
    #expect(throws: JSONSyntaxError.self) { try read("{\(many),\"k3\":1}") }
    #expect(throws: Never.self) { try read("{\(many)}") }
  }

  @Test("128 levels are read, 129 are refused")
  func depth() {
    #expect(throws: Never.self) { try read(String(repeating: "[", count: 128) + String(repeating: "]", count: 128)) }
    #expect(throws: JSONSyntaxError.self) { try read(String(repeating: "[", count: 129) + String(repeating: "]", count: 129)) }
    #expect(throws: JSONSyntaxError.self) { try read(String(repeating: "[", count: 1_000_000)) }
  }

  @Test("more values than allowed are a limit, not a flaw")
  func valueLimit() {
    let error = #expect(throws: JSONSyntaxError.self) {
      try JSONReader.read(Array("[1,2,3]".utf8), limits: JSONLimits(values: 3))
    }
    #expect(error?.isLimit == true)
  }

  @Test("an opaque member is checked but not read, and keeps its text")
  func opaque() throws {
    let bytes = Array("{\"payload\":  {\"a\" :1, \"a\":2} , \"b\":2}".utf8)
    let node = try JSONReader.read(bytes, limits: JSONLimits(values: 3, opaqueMembers: ["payload"]))
    let payload = try #require(node["payload"])
    #expect(payload.value == .opaque)
    #expect(String(decoding: bytes[payload.range], as: UTF8.self) == "{\"a\" :1, \"a\":2}")
    #expect(throws: JSONSyntaxError.self) {
      try JSONReader.read(Array("{\"payload\": {\"a\" 1}}".utf8), limits: JSONLimits(opaqueMembers: ["payload"]))
    }
  }
}
