import Foundation
import Testing

@testable import TokenRefresh

@Suite("Redactor") struct RedactorTests {
  private static let secret = "S3cr/t+T0ken=ü & 'x'"

  /// What a server may make of a secret when it echoes the request.
  static let echoes: [(name: String, text: String)] = [
    ("plain", secret),
    ("form-encoded", FormEncoding.encode(secret)),
    ("percent-encoded in lower case", percent(secret, uppercase: false)),
    ("every byte percent-encoded", percent(secret, uppercase: true)),
    ("percent-encoded twice", FormEncoding.encode(percent(secret, uppercase: false))),
    (#"JSON with \/"#, secret.replacing("/", with: #"\/"#)),
    (#"JSON with \u"#, secret.unicodeScalars.map { String(format: "\\u%04x", $0.value) }.joined()),
    ("JSON in a form", FormEncoding.encode(#"{"refresh_token":"\#(secret.replacing("/", with: #"\/"#))"}"#)),
    ("HTML", secret.replacing("&", with: "&amp;").replacing("'", with: "&#39;").replacing("/", with: "&#x2F;")),
    ("hexadecimal", secret.utf8.map { String(format: "%02x", $0) }.joined()),
    ("base64", Data(secret.utf8).base64EncodedString()),
    (
      "base64 for URLs",
      Data(secret.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    ),
    ("base64 of more, 0", Data("id1\(secret)tail".utf8).base64EncodedString()),
    ("base64 of more, 1", Data("id:1\(secret)tail".utf8).base64EncodedString()),
    ("base64 of more, 2", Data("id:12\(secret)tail".utf8).base64EncodedString()),
  ]

  @Test("a secret is redacted in whatever form it is echoed", arguments: echoes)
  func redacted(_ name: String, _ text: String) {
    let redactor = Redactor([Secret(Self.secret)])
    let clean = redactor.redact("before \(text) after")
    #expect(clean.contains("[redacted]"), "\(name): \(clean)")
    #expect(clean.hasPrefix("before "))
    #expect(clean.hasSuffix(" after"))
    #expect(!clean.contains(text))
    for part in ["S3cr", "T0ken", "53336372", "UzNjc"] { #expect(!clean.contains(part), "\(name): \(clean)") }
  }

  @Test("text without a secret stays as it is, escapes included")
  func untouched() {
    let redactor = Redactor([Secret("secret-value")])
    for text in [#"50% of \u0041 &amp; C:\new"#, "%", #"\"#, "&", "&#;", "&#xFFFFFFFFFF;", "%zz", #"\ud800\u0041"#, "ünïcödé ✓", ""] {
      #expect(redactor.redact(text) == text)
    }
  }

  @Test("a secret that looks encoded itself is found plain and encoded", arguments: ["50%41%2Fx", #"a\u0041b\/c"#, "x&amp;y;z12"])
  func looksEncoded(_ secret: String) {
    let redactor = Redactor([Secret(secret)])
    #expect(redactor.redact("<\(secret)>") == "<[redacted]>")
    #expect(redactor.redact("<\(FormEncoding.encode(secret))>") == "<[redacted]>")
  }

  private static func percent(_ text: String, uppercase: Bool) -> String {
    text.utf8.map { String(format: uppercase ? "%%%02X" : "%%%02x", $0) }.joined()
  }
}
