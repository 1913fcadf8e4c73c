import Testing

@testable import HTTPTransfer

/// Numbers, ranges and times in the heads of answers.
@Suite("Headers") struct HeaderTests {
  private func head(_ headers: (String, String)...) -> TransferHead { TransferHead(status: 200, headers: headers, url: "http://x/") }

  @Test("a number is made of digits that an Int64 holds", arguments: ["", "-1", "+1", " 1", "1 ", "0x1", "1e3", "9223372036854775808"])
  func noNumber(_ text: String) {
    #expect(HeaderNumber.read(text) == nil)
    #expect(HeaderNumber.read("9223372036854775807") == .max && HeaderNumber.read("007") == 7)
  }

  @Test("a range has a first byte, a last one and a size that fit together")
  func ranges() {
    #expect(ContentRange("bytes 0-0/1") == .part(first: 0, last: 0, total: 1))
    #expect(ContentRange("Bytes 5-9/*") == .part(first: 5, last: 9, total: nil))
    #expect(ContentRange("bytes */10") == .unsatisfied(total: 10))
    for text in [
      "", "bytes", "bytes ", "bytes 5-9/-1", "bytes 5-9/9", "bytes 9-5/10", "bytes -5/10", "bytes 5-/10", "bytes */*", "bytes */",
      "bytes 5-9", "bytes +5-9/10", "bytes 5-9/+10", "bytes 5-9/10/10", "bytes 5-6-7/10", "bytes  5-9/10", "bytes 5-9/10 ", "items 5-9/10",
      "bytes 0-9223372036854775807/*", "bytes 5-9223372036854775808/*", "bytes */99999999999999999999",
    ] {
      #expect(ContentRange(text) == nil, "\(text)")
    }
    #expect(head(("Content-Range", "bytes 0-0/1"), ("content-range", "bytes 0-0/1")).contentRange == nil)
  }

  @Test("the size of a body is one size, told once or several times alike")
  func sizes() {
    #expect(head().bodySize == .unknown)
    #expect(head(("Content-Length", "10")).bodySize == .known(10))
    #expect(head(("Content-Length", "10, 10"), ("content-length", "10")).bodySize == .known(10))
    #expect(head(("Content-Length", "10"), ("Transfer-Encoding", "chunked")).bodySize == .unknown)
    for text in ["", "-1", "+1", "10, 11", "10,", "ten", "99999999999999999999"] {
      #expect(head(("Content-Length", text)).bodySize == .contradictory, "\(text)")
    }
    #expect(head(("Content-Length", "10"), ("Content-Length", "11")).bodySize == .contradictory)
  }

  @Test(
    "the three forms of an HTTP date are read",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
      ("Fri, 31 Dec 2100 12:00:00 GMT", 4_133_937_600),
    ])
  func httpDate(_ text: String, _ expected: Int64) {
    #expect(HTTPDate.parse(text) == expected)
  }

  @Test(
    "what is no HTTP date is not read",
    arguments: [
      "", "tomorrow", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 25:00:00 GMT", "a b c d e f", "Sun, 06 Nov +1994 08:49:37 GMT",
      "Sun, 06 Nov 9223372036854775807 08:49:37 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT",
    ])
  func noDate(_ text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test("Retry-After is bounded by 0 and a day, and a date is measured against the server's own clock")
  func retryAfter() {
    func parse(_ value: String?, date: String? = nil) -> Duration? { RetryAfter.parse(value, date: date, now: 784_111_777) }
    #expect(parse(nil) == nil)
    #expect(parse("soon") == nil)
    #expect(parse("-1") == nil)
    #expect(parse("0") == .zero)
    #expect(parse("99999999999999999999999") == .seconds(86_400))
    #expect(parse("Sun, 06 Nov 1994 08:49:47 GMT") == .seconds(10))
    #expect(parse("Sun, 06 Nov 1994 08:49:27 GMT") == .zero)
    #expect(parse("Sun, 06 Nov 1994 09:49:47 GMT", date: "Sun, 06 Nov 1994 09:49:37 GMT") == .seconds(10))
  }

  @Test("an address has an origin; a reference is read from where it was found")
  func addresses() throws {
    let url = try #require(TransferURL("HTTPS://Example.ORG/a/b?c#d"))
    #expect(url.origin == "https://example.org:443" && url.withoutQuery == "https://example.org:443/a/b")
    #expect(!url.text.contains("#"))
    #expect(url.resolve("../e")?.withoutQuery == "https://example.org:443/e")
    #expect(url.resolve("//other:444/x")?.origin == "https://other:444")
    #expect(url.resolve("http://example.org")?.scheme == "http")
    for text in ["", "/a", "ftp://x/", "file:///etc/passwd", "http://u:p@x/", "http://u@x/", "http://x/\r\nA: b", "http://"] {
      #expect(TransferURL(text) == nil, "\(text)")
    }
    for text in ["javascript:1", "http://u@x/", "/\r\n", "\0"] { #expect(url.resolve(text) == nil, "\(text)") }
  }
}
