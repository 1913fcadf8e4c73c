import StrictText
import Testing

@Suite("JSON scanner") struct JSONScannerTests {
  private func string(_ bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8] {
    var scanner = JSONScanner(bytes)
    return Array(try scanner.string())
  }

  private func string(_ text: String) throws(JSONSyntaxError) -> String { String(decoding: try string(Array(text.utf8)), as: UTF8.self) }

  @Test(
    "a string's escapes are resolved",
    arguments: [
      ("\"\"", ""), ("\"a\"", "a"), ("\"\\\"\\\\\\/\"", "\"\\/"), ("\"\\b\\f\\n\\r\\t\"", "\u{8}\u{c}\n\r\t"), ("\"a\\u00e9b\"", "aéb"),
      ("\"\\uD83D\\ude00\"", "😀"), ("\"\\u0000\"", "\0"), ("\"grüße 😀\"", "grüße 😀"), ("\"a\" b", "a"),
    ])
  func strings(_ text: String, _ expected: String) throws {
    #expect(try string(text) == expected)
  }

  @Test(
    "a string that is none is refused at its place",
    arguments: [
      ("\"a", "line 1, column 1: the string is not closed"), ("\"a\\", "line 1, column 4: the text ends inside a string"),
      ("\"\t\"", "line 1, column 2: a control character in a string must be escaped"),
      ("\"é\\x\"", "line 1, column 3: 'x' is not a valid escape"),
      ("\"\\u12g4\"", "line 1, column 2: \\u needs four hexadecimal digits"),
      ("\"\\u12", "line 1, column 2: \\u needs four hexadecimal digits"),
      ("\"\\ud800\"", "line 1, column 2: half of a surrogate pair"), ("\"\\ud800\\n\"", "line 1, column 2: half of a surrogate pair"),
      ("\"\\ud800\\u0041\"", "line 1, column 2: half of a surrogate pair"),
      ("\"\\udc00\\ud800\"", "line 1, column 2: half of a surrogate pair"),
    ])
  func badStrings(_ text: String, _ sentence: String) {
    #expect { try string(text) } throws: { "\($0)" == sentence }
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xFF],
    ] as [[UInt8]])
  func notUTF8(_ bytes: [UInt8]) {
    #expect(throws: JSONSyntaxError.self) { try string([0x22] + bytes + [0x22]) }
    #expect(throws: JSONSyntaxError.self) { try string([0x22] + bytes) }
  }

  @Test("a number's text is all of it and no more", arguments: ["0", "-0", "12", "-1.5e+10", "0.25", "1E400", "18446744073709551616"])
  func numbers(_ text: String) throws {
    var scanner = JSONScanner(Array((text + ",1").utf8))
    #expect(String(decoding: try scanner.number(), as: UTF8.self) == text)
    #expect(scanner.next == UInt8(ascii: ","))
  }

  @Test("a number that JSON does not know is refused", arguments: ["01", "-", "1.", "-01", "1e", "1e+", "1.e1", ".5", ""])
  func badNumbers(_ text: String) {
    var scanner = JSONScanner(Array(text.utf8))
    #expect(throws: JSONSyntaxError.self) { try scanner.number() }
  }

  @Test("words are read in full")
  func words() throws {
    var scanner = JSONScanner(Array(" \t\r\ntrue,nul".utf8))
    scanner.skipBlanks()
    try scanner.word("true")
    let taken = [scanner.take(","), scanner.take(",")]
    #expect(taken == [true, false])
    #expect { try scanner.word("null") } throws: { "\($0)" == "line 2, column 6: null is expected" }
  }

  @Test("what begins no value is named")
  func noValue() {
    #expect("\(JSONScanner(Array("x".utf8)).noValue())" == "line 1, column 1: 'x' does not begin a value")
    #expect("\(JSONScanner([0xEF]).noValue())" == "line 1, column 1: byte 0xef does not begin a value")
    #expect("\(JSONScanner([]).noValue())" == "line 1, column 1: the text ends where a value is expected")
  }
}
