import StrictText
import Testing

@Suite("Marks that Unicode joins to others") struct BytePartsTests {
  @Test("paths are divided as the kernel does it")
  func parts() {
    #expect("/a/\u{600}/../b".parts(between: "/") == ["a", "\u{600}", "..", "b"])
    #expect("a:\u{600}::b".parts(between: ":", omittingEmpty: false) == ["a", "\u{600}", "", "b"])
    #expect("a\u{600}/b".has("/") && !"a\u{600}".has("/"))
  }

  @Test("scalars are replaced wherever they are")
  func replaced() {
    #expect("\u{600}<a\u{301}>&".replacing(scalars: ["<": "&lt;", ">": "&gt;", "&": "&amp;"]) == "\u{600}&lt;a\u{301}&gt;&amp;")
    #expect("it's \u{600}'".replacing(scalars: ["'": "'\\''"]) == "it'\\''s \u{600}'\\''")
  }

  @Test("shells and markup see no character of the text as their own")
  func escaped() {
    #expect("it's \u{600}'x".inShellQuotes == "'it'\\''s \u{600}'\\''x'")
    #expect("\u{600}<b>&".escapingMarkup == "\u{600}&lt;b&gt;&amp;")
  }

  @Test("a mark is a character of its own, and what was joined to it can be seen")
  func isolated() {
    #expect("a\u{600}<b>\u{301}".isolating("<>") == "a\\u{600}<b>\\u{301}")
    for text in ["", "<>", "e\u{301}\r\n", "🇩🇪 <b>"] { #expect(text.isolating("<>\"") == text) }
  }
}
