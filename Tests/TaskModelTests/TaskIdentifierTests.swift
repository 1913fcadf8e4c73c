import Testing

@testable import TaskModel

@Suite("Task identifiers") struct TaskIdentifierTests {
  @Test(
    "identifiers that are taken",
    arguments: [
      "a", "7", "Z", "org.example.cleanup", "a..b", "a-", "a.", "a_b-C.9", String(repeating: "x", count: 128),
    ])
  func taken(_ text: String) throws { #expect(try TaskIdentifier(text).rawValue == text) }

  /// A text and what is wrong with it.
  private static let wrong: [(String, String)] = [
    ("", "is empty"), (String(repeating: "x", count: 129), "has 129 bytes, more than 128"), ("..", "does not begin with a letter or digit"),
    (".a", "does not begin with a letter or digit"), ("-a", "does not begin with a letter or digit"),
    ("_", "does not begin with a letter or digit"),
    (" a", "does not begin with a letter or digit"), ("a b", "has a character other than"), ("a\n", "has a character other than"),
    ("a\0", "has a character other than"), ("a/../b", "has a character other than"), ("é", "does not begin with a letter or digit"),
    ("aé", "has a character other than"), ("a\u{FFFD}", "has a character other than"), ("a*", "has a character other than"),
  ]

  @Test("identifiers that are refused say why (fault 36)", arguments: wrong)
  func refused(_ text: String, _ flaw: String) {
    let error = #expect(throws: InvalidIdentifier.self) { try TaskIdentifier(text) }
    #expect(error?.flaw.hasPrefix(flaw) == true)
    #expect(error?.description.contains("use 1 to 128") == true)
  }

  @Test("a refusal shows what was offered without its control characters, cut to 160")
  func shown() {
    let error = InvalidIdentifier(text: "a\u{1b}[2J\n" + String(repeating: "y", count: 200), flaw: "is wrong")
    #expect(error.description.contains("\"a\\u{1b}[2J\\ny"))
    #expect(!error.description.contains(String(repeating: "y", count: 156)))
  }

  @Test("patterns cover an identifier in full, by its beginning, or all")
  func patterns() throws {
    let identifier = try TaskIdentifier("org.example.cleanup")
    #expect(try IdentifierPattern("org.example.cleanup").matches(identifier))
    #expect(try IdentifierPattern("org.example.*").matches(identifier))
    #expect(try IdentifierPattern("*").matches(identifier))
    #expect(try !IdentifierPattern("org.example").matches(identifier))
    #expect(try !IdentifierPattern("org.example.cleanup.*").matches(identifier))
    #expect(try IdentifierPattern("org.example.cleanup").exact == identifier)
    #expect(try IdentifierPattern("org.example.*").exact == nil)
    #expect(throws: InvalidIdentifier.self) { try IdentifierPattern("**") }
    #expect(throws: InvalidIdentifier.self) { try IdentifierPattern("") }
  }
}

@Suite("Escaping") struct EscapingTests {
  /// A text and how it is shown.
  private static let texts: [(String, String)] = [
    ("plain text", "plain text"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u{1b}[31m", "\\u{1b}[31m"), ("\0", "\\u{0}"),
    ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"),
    ("\u{2028}\u{202e}\u{2066}", "\\u{2028}\\u{202e}\\u{2066}"), ("é€😀", "é€😀"), ("", ""), ("e\u{301}", "e\u{301}"),
  ]

  @Test("control characters and what redirects a terminal's text are shown as escapes", arguments: texts)
  func escapes(_ text: String, _ shown: String) { #expect(text.escapingControlCharacters == shown) }
}
