import TaskModel
import Testing

@Suite("A plugin's words") struct PluginTextTests {
  @Test("a short line without control characters stays as it is", arguments: ["", "done", "Räumt auf: 3 €", "back\\slash \\n"])
  func plain(_ text: String) {
    #expect(PluginText.line(text) == text)
    #expect(PluginText.lines(text, limit: 100) == text)
  }

  @Test("control characters are escaped, in several lines those between the ends of lines")
  func escaped() {
    #expect(PluginText.line("a\n\u{1B}[31mb\u{202E}") == "a\\n\\u{1b}[31mb\\u{202e}")
    #expect(PluginText.lines("a\n\u{1B}[31mb\n\nc\r", limit: 100) == "a\n\\u{1b}[31mb\n\nc\\r")
  }

  @Test("what is too long when it is escaped is cut at a whole character and marked; what is marked is not cut again")
  func cut() {
    let mark = " … (cut at 10 bytes)"
    #expect(PluginText.line(String(repeating: "x", count: 10), limit: 10) == String(repeating: "x", count: 10))
    #expect(PluginText.line(String(repeating: "x", count: 11), limit: 10) == String(repeating: "x", count: 10) + mark)
    #expect(PluginText.line("123456789é", limit: 10) == "123456789" + mark)
    #expect(PluginText.line("1\u{1}2\u{2}3", limit: 10) == "1\\u{1}2\\u{" + mark)
  }

  private static let parts = ["é", "x", "\n", "\u{1B}", "a\nb", " … (cut at 10 bytes)"]

  @Test("done twice, it changes nothing more", arguments: parts, [0, 1, 5, 9, 10, 11, 40])
  func again(_ part: String, _ count: Int) {
    let text = String(repeating: part, count: count)
    let line = PluginText.line(text, limit: 10)
    #expect(PluginText.line(line, limit: 10) == line)
    #expect(line.utf8.count <= PluginText.longest(10))
    let lines = PluginText.lines(text, limit: 10)
    #expect(PluginText.lines(lines, limit: 10) == lines)
    #expect(lines.utf8.count <= PluginText.longest(10))
  }
}
