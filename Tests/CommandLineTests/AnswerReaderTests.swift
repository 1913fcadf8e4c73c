import Testing

@testable import TaskHostClient
@testable import taskhost

@Suite("Taking an HTTP answer apart") struct AnswerReaderTests {
  /// What comes over the connection, the status, the body, whether it is complete without the connection's end.
  static let answers: [(String, Int, String, Bool)] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", true),
    ("HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n", 404, "", true),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nab\n\r\nA\r\n0123456789\r\n0\r\nT: x\r\n\r\n", 200, "ab\n0123456789",
      true
    ),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", 204, "", true),
    ("HTTP/1.0 200\r\n\r\nto the end", 200, "to the end", false),
  ]

  @Test("every kind of body is read, however it is split", arguments: answers)
  func whole(_ text: String, _ status: Int, _ body: String, _ isComplete: Bool) throws {
    let bytes = Array(text.utf8)
    for size in 1...bytes.count {
      var reader = AnswerReader()
      var read: [UInt8] = []
      for start in stride(from: 0, to: bytes.count, by: size) { read += try reader.take(bytes[start..<min(start + size, bytes.count)]) }
      #expect(reader.status == status && read == Array(body.utf8) && reader.mayEnd && reader.hasEnded == isComplete)
    }
  }

  @Test("an answer that stops short is not taken for a whole one", arguments: answers.filter(\.3).map(\.0))
  func short(_ text: String) throws {
    let bytes = Array(text.utf8)
    for count in 0..<bytes.count {
      var reader = AnswerReader()
      _ = try reader.take(bytes[..<count])
      #expect(!reader.mayEnd, "\(count)")
    }
  }

  @Test(
    "what is no answer is refused",
    arguments: [
      "SSH-2.0-x\r\n", "HTTP/1.1 ok\r\n", "HTTP/1.1 200 OK\r\nno header\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70_000),
    ])
  func flaws(_ text: String) {
    #expect(throws: AnswerReader.Flaw.self) {
      var reader = AnswerReader()
      _ = try reader.take(Array(text.utf8))
    }
  }
}
