import Foundation
import StrictText
import Testing

@testable import TokenRefresh

@Suite("Formats") struct FormatsTests {
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
