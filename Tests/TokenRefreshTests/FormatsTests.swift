import Foundation
import StrictText
import Testing

@testable import TokenRefresh

@Suite("Formats") struct FormatsTests {
  @Test(
    "the three forms of an HTTP date are read",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
      ("Fri, 31 Dec 2100 12:00:00 GMT", 4_133_937_600),
    ])
  func httpDate(_ text: String, _ expected: Double) {
    #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == expected)
  }

  @Test(
    "what is no HTTP date is not read",
    arguments: ["", "tomorrow", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 25:00:00 GMT", "a b c d e f"])
  func noDate(_ text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test("Retry-After is bounded by 0 and a day, and a date is measured against the server's own clock")
  func retryAfter() {
    let now = Date(timeIntervalSince1970: 784_111_777)
    func parse(_ value: String?, date: String? = nil) -> Duration? { RetryAfter.parse(value, date: date, now: now) }
    #expect(parse(nil) == nil)
    #expect(parse("soon") == nil)
    #expect(parse("-1") == nil)
    #expect(parse("0") == .zero)
    #expect(parse("99999999999999999999999") == .seconds(86_400))
    #expect(parse("Sun, 06 Nov 1994 08:49:47 GMT") == .seconds(10))
    #expect(parse("Sun, 06 Nov 1994 08:49:27 GMT") == .zero)
    #expect(parse("Sun, 06 Nov 1994 09:49:47 GMT", date: "Sun, 06 Nov 1994 09:49:37 GMT") == .seconds(10))
  }

  @Test("durations are a whole number and a unit")
  func durations() {
    #expect(Duration(text: "500ms") == .milliseconds(500))
    #expect(Duration(text: "2h") == .seconds(7200))
    #expect(Duration(text: "1d") == .seconds(86_400))
    for text in ["", "5", "m", "-5m", "+5m", "1.5h", "5 m", "99999999999999999999s", "11000d"] { #expect(Duration(text: text) == nil) }
  }

  @Test("form encoding follows RFC 6749 appendix B")
  func form() {
    #expect(FormEncoding.encode(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
  }

  @Test("a secret shows nothing of itself, however it is printed")
  func secret() throws {
    let secret = Secret("hunter2")
    let file = try TokenFile(json: Array(#"{"access_token": "hunter2"}"#.utf8))
    let grant = try #require(TokenGrant(["access_token": .string("hunter2")]))
    var texts = [
      "\(secret)", String(reflecting: secret), "\([secret])", "\(file)", String(reflecting: file), "\(grant)", String(reflecting: grant),
    ]
    for value in [secret, file, grant, Redactor([secret])] as [Any] {
      var text = ""
      dump(value, to: &text)
      texts.append(text)
    }
    for text in texts { #expect(!text.contains("hunter2")) }
  }

  @Test("foreign text is cleaned of secrets, control characters and length")
  func redaction() {
    let redactor = Redactor([Secret("a+bc"), Secret("a+bc longer")])
    #expect(redactor.clean("x a+bc longer y a%2Bbc\u{1B}[1m\nz") == "x [redacted] y [redacted][1m z")
    #expect(redactor.clean(String(repeating: "x", count: 300)).count == 201)
  }
}
