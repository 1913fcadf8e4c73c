import Testing

@testable import Exec

@Suite("Lines") struct LineBufferTests {
  private func lines(_ pieces: [String], limit: Int = 8) -> [String] {
    var buffer = LineBuffer(limit: limit)
    var lines: [String] = []
    for piece in pieces {
      Array(piece.utf8).withUnsafeBytes { buffer.take($0) { lines.append(String(decoding: $0, as: UTF8.self)) } }
    }
    buffer.finish { lines.append(String(decoding: $0, as: UTF8.self)) }
    return lines
  }

  @Test("lines are the same however the stream is divided")
  func pieces() {
    let text = "one\ntwo\n\nthree"
    #expect(lines([text]) == ["one", "two", "", "three"])
    #expect(lines(text.map(String.init)) == ["one", "two", "", "three"])
    #expect(lines(["one\ntw", "o\n", "\nthr", "ee"]) == ["one", "two", "", "three"])
  }

  @Test("a line feed at the end begins no line, and no bytes are no line")
  func end() {
    #expect(lines(["one\n"]) == ["one"])
    #expect(lines([""]) == [] && lines([]) == [])
    #expect(lines(["\n"]) == [""])
  }

  @Test("a line that is skipped is gone with what comes of it later")
  func skipped() {
    var buffer = LineBuffer(limit: 8)
    var lines: [String] = []
    func take(_ text: String) {
      var text = text
      text.withUTF8 { bytes in buffer.take(UnsafeRawBufferPointer(bytes)) { lines.append(String(decoding: $0, as: UTF8.self)) } }
    }
    take("a\nhalf")
    buffer.skipLine()
    take(" of a long line")
    take(" is gone\nb\n")
    buffer.skipLine()
    take("c\n")
    #expect(lines == ["a", "b", "c"])
  }

  @Test("a line beyond the limit comes in pieces of the limit")
  func long() {
    #expect(lines(["12345678abcd\nx"]) == ["12345678", "abcd", "x"])
    #expect(lines(["1234", "5678", "\n"]) == ["12345678", ""])
  }
}
