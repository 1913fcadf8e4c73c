import Foundation
import StrictText
import Testing

@Suite("Text as a JSON string") struct QuotedTextTests {
  @Test("quotes, backslashes and control characters are escaped, and JSON reads the text again")
  func forms() throws {
    let text = "\"\\\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}\u{9f} é\u{1F600}"
    #expect(text.quotedForJSON == #""\"\\\b\t\n\f\r\u0000\u001f\u007f\u009f é"# + "\u{1F600}\"")
    #expect(try JSONDecoder().decode(String.self, from: Data(text.quotedForJSON.utf8)) == text)
  }
}
