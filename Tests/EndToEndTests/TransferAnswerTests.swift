import Foundation
import TestSupport
import Testing

/// What servers answer that is wrong, odd or hostile: each has a defined outcome, and no torn or mixed file takes the target's place.
@Suite("Answers to downloads", .timeLimit(.minutes(10)))
struct TransferAnswerTests {
  /// The first half of a content of ten bytes, and the end of the connection.
  private static let half = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\nhello"
  private static let whole = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\nhelloworld"

  private static func rest(_ range: String, _ body: String = "world", _ more: String = "") -> String {
    "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: \(range)\r\nContent-Length: \(body.utf8.count)\r\n\(more)\r\n\(body)"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let replies: [String]
    /// The `Range` of each request; nil for one without.
    let ranges: [String?]
  }

  static let cases = [
    Case(testDescription: "the rest", replies: [half, rest("bytes 5-9/10")], ranges: [nil, "bytes=5-"]),
    Case(
      testDescription: "a negative size", replies: [half, rest("bytes 5-9/-1"), whole], ranges: [nil, "bytes=5-", nil]),
    Case(testDescription: "a sign", replies: [half, rest("bytes +5-9/10"), whole], ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a size that no number holds", replies: [half, rest("bytes 5-9/99999999999999999999"), whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(testDescription: "an end before its begin", replies: [half, rest("bytes 5-4/10"), whole], ranges: [nil, "bytes=5-", nil]),
    Case(testDescription: "an end beyond the size", replies: [half, rest("bytes 5-10/10"), whole], ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "more bytes than the range has", replies: [half, rest("bytes 5-9/10", "world!!"), whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a size that differs from the first answer's", replies: [half, rest("bytes 5-9/11"), whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a size that only the first answer tells", replies: [half, rest("bytes 5-7/*", "wor"), rest("bytes 8-9/*", "ld")],
      ranges: [nil, "bytes=5-", "bytes=8-"]),
    Case(
      testDescription: "a size that no answer tells",
      replies: [
        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", rest("bytes 5-7/*", "wor"),
        rest("bytes 8-9/*", "ld"), tooFar,
      ], ranges: [nil, "bytes=5-", "bytes=8-", "bytes=10-"]),
    Case(
      testDescription: "less than the rest", replies: [half, rest("bytes 5-8/10", "worl"), rest("bytes 9-9/10", "d")],
      ranges: [nil, "bytes=5-", "bytes=9-"]),
    Case(
      testDescription: "several ranges",
      replies: [half, rest("bytes 5-9/10", "--x\r\n", "Content-Type: multipart/byteranges; boundary=x\r\n"), whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "another coding", replies: [half, rest("bytes 5-9/10", "zzzzz", "Content-Encoding: gzip\r\n"), whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a coding from the first byte on",
      replies: [half.replacingOccurrences(of: "\r\n\r\n", with: "\r\nContent-Encoding: gzip\r\n\r\n"), whole], ranges: [nil, nil]),
    Case(
      testDescription: "a 416 without a size", replies: [half, "HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n", whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a 416 with a size that no number holds",
      replies: [half, "HTTP/1.1 416 No\r\nContent-Range: bytes */5x\r\nContent-Length: 0\r\n\r\n", whole], ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a rest without a tag, which may be of another content",
      replies: [half, rest("bytes 5-9/10", "WORLD").replacingOccurrences(of: "ETag: \"1\"\r\n", with: ""), whole],
      ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a 416 that calls a torn part whole",
      replies: [half, "HTTP/1.1 416 No\r\nContent-Range: bytes */5\r\nContent-Length: 0\r\n\r\n", whole], ranges: [nil, "bytes=5-", nil]),
    Case(
      testDescription: "a length that is negative", replies: [whole.replacingOccurrences(of: ": 10", with: ": -10"), whole],
      ranges: [nil, nil]),
    Case(
      testDescription: "a length that no number holds",
      replies: [half.replacingOccurrences(of: ": 10", with: ": 99999999999999999999"), whole], ranges: [nil, nil]),
    Case(
      testDescription: "chunks without an end", replies: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", whole],
      ranges: [nil, nil]),
    Case(testDescription: "a chunk of a negative size", replies: [chunked("-5"), whole], ranges: [nil, nil]),
    Case(testDescription: "a chunk of a size that no number holds", replies: [chunked("FFFFFFFFFFFFFFFFFF"), whole], ranges: [nil, nil]),
    Case(
      testDescription: "a NUL in a header", replies: ["HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 5\r\n\r\nhello", whole],
      ranges: [nil, nil]),
    Case(
      testDescription: "many interim answers", replies: [String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 20) + whole],
      ranges: [nil]),
    Case(
      testDescription: "a date to try again",
      replies: [
        "HTTP/1.1 503 No\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n", whole,
      ], ranges: [nil, nil]),
  ]

  private static let tooFar = "HTTP/1.1 416 No\r\nContent-Range: bytes */10\r\nContent-Length: 0\r\n\r\n"

  private static func chunked(_ size: String) -> String {
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nhello\r\n0\r\n\r\n"
  }

  @Test("a download gets the whole content in the end, and asks for the rest only where that is safe")
  func wholeInTheEnd() async throws {
    try await TransferSurroundings.run { at in
      for (number, each) in Self.cases.enumerated() {
        let result = try await at.transfer(at.server.answering("f\(number)", each.replies), "--to", at.file("f\(number)"))
        #expect(result.status == 0, "\(each.testDescription): \(result)")
        let found = FileManager.default.contents(atPath: at.file("f\(number)")).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == "helloworld", "\(each.testDescription): \(result)")
        let requests = try await at.server.requests("f\(number)")
        #expect(requests.map { $0.headers["Range"] } == each.ranges, "\(each.testDescription)")
      }
      #expect(try at.names().filter { $0.hasPrefix(".") } == [])
    }
  }

  @Test("headers and chunks without end are given up, and a body that comes by drops is one that stands still")
  func endless() async throws {
    try await TransferSurroundings.run("[plugin.\"org.taskhost.transfers\".settings]\nstall_timeout_s = 2") { at in
      let cases = [
        ("HTTP/1.1 200 OK\r\n<1000000*X: x\r\n>", "headers", "failed"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc<hold>d", "no answer came in time", "waiting"),
        ("HTTP/1.1 200 OK\r\nX: <hold>y", "no answer came in time", "waiting"),
        ("<hold>H", "no answer came in time", "waiting"),
      ]
      let items = cases.enumerated().map { number, each in
        "{\"url\": \"\(at.server.answering("f\(number)", each.0))\", \"to\": \"\(at.file("f\(number)"))\"}"
      }
      let result = try await at.batch("{\"items\": [\(items.joined(separator: ",\n"))]}")
      let report = try #require(result.output.split(separator: "\n").last.flatMap { try? JSON(parsing: String($0)) }?["items"]?.array)
      for (item, each) in zip(report, cases) {
        #expect(item["state"]?.string == each.2 && item["problem"]?.string?.contains(each.1) == true, "\(item)")
      }
    }
  }

  @Test("a size that makes no sense does not end the worker while the progress is told")
  func progressOfNonsense() async throws {
    try await TransferSurroundings.run { at in
      let nonsense = Self.rest("bytes 5-9/-1").replacingOccurrences(of: "world", with: "wo<hold>rld")
      let submitted = try await at.host.cli(
        "transfers", "submit", at.server.answering("a", Self.half, nonsense, Self.whole), "--to", at.file("a"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.host.request(id, is: "succeeded")
      let runs = try #require(try await at.host.json("runs", "list", "--request", id)["runs"]?.array)
      #expect(!runs.contains { $0["outcome"]?.string == "crashed" }, "\(runs)")
    }
  }

  @Test("what cannot become right fails at once, and leaves nothing")
  func failures() async throws {
    let cases: [(reply: String, words: String)] = [
      (Self.rest("bytes 0-4/10", "hello"), "the server answered 206"),
      ("HTTP/1.1 200 OK\r\n<2000*X: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n>\r\nhello", "headers"),
      ("HTTP/1.1 200 OK\r\nX: <200000*x>\r\n\r\nhello", "headers"),
      ("<5000*HTTP/1.1 102 Processing\r\n\r\n>" + Self.whole, "headers"),
      ("HTTP/1.1 304 Not Modified\r\n\r\n", "the server answered 304"),
      ("HTTP/1.1 204 No Content\r\n\r\n", "the server answered 204"),
    ]
    try await TransferSurroundings.run { at in
      for (number, each) in cases.enumerated() {
        let result = try await at.transfer(at.server.answering("f\(number)", each.reply), "--to", at.file("f\(number)"))
        #expect(result.status == 1 && result.output.contains(each.words), "\(each.words): \(result)")
        #expect(try await at.server.requests("f\(number)").count == 1, "\(each.words)")
      }
      #expect(try at.names() == [])
    }
  }

  @Test("a connection that ends after any byte of an answer costs no byte and tears no file")
  func everyCut() async throws {
    try await TransferSurroundings.run { at in
      let bytes = Array(Self.whole.utf8)
      let items = (0..<bytes.count).map { count in
        let cut = String(decoding: bytes.prefix(count), as: UTF8.self)
        return "{\"url\": \"\(at.server.answering("f\(count)", cut, Self.whole))\", \"to\": \"\(at.file("f\(count)"))\"}"
      }
      let result = try await at.batch("{\"items\": [\(items.joined(separator: ",\n"))]}")
      #expect(result.status == 0, "\(result.output.prefix(2000))")
      let names = try at.names()
      #expect(names.count == bytes.count)
      for name in names { #expect(FileManager.default.contents(atPath: at.file(name)) == Data("helloworld".utf8), "\(name)") }
    }
  }

  @Test("a repeating transfer transfers each time")
  func repeated() async throws {
    try await TransferSurroundings.run("minimum_interval = \"1s\"") { at in
      let submitted = try await at.host.cli(
        "transfers", "submit", "\(at.server.address)/a?size=100", "--to", at.file("a"), "--every", "1s")
      #expect(submitted.status == 0, "\(submitted)")
      try await at.server.waitForRequests("a", 3)
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      _ = try await at.host.cli("transfers", "cancel", id)
    }
  }
}
