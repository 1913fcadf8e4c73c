import Foundation
import StrictText
import Testing

@testable import TokenRefresh

@Suite("Redactor") struct RedactorTests {
  private static let secret = "S3cr/t+T0ken=ü & 'x'"

  @Test("members that are secrets are found in arrays too, and in the objects in them")
  func nested() {
    let members: [String: JSONValue] = [
      "tokens": .array([.string("first of these")]),
      "errors": .array([.object(["id_token": .string("second of these"), "detail": .string("a sentence about it")])]),
    ]
    #expect(Set(SecretMembers.find(in: members).map { $0.reveal() }) == ["first of these", "second of these"])
  }

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
    ("hexadecimal with colons", secret.utf8.map { String(format: "%02X", $0) }.joined(separator: ":")),
    ("hexadecimal in pairs", secret.utf8.map { String(format: "%02x", $0) }.joined(separator: " ")),
    ("with a line break in it", secret.replacing("T0ken", with: "T0\r\nken")),
  ]

  /// Encodings that no search for a secret foresees.
  static let unforeseen: [(name: String, text: String)] = [
    ("base64 of a form", Data("a=b&refresh_token=\(FormEncoding.encode(secret))".utf8).base64EncodedString()),
    ("base64 twice", Data(Data(secret.utf8).base64EncodedString().utf8).base64EncodedString()),
    (
      "base64 in lines",
      Data((secret + secret + secret).utf8).base64EncodedString(options: [.lineLength76Characters, .endLineWithCarriageReturn])
    ),
    ("hexadecimal of a form", FormEncoding.encode(secret).utf8.map { String(format: "%02x", $0) }.joined()),
    ("quoted-printable", secret.utf8.map { String(format: "=%02X", $0) }.joined()),
    ("octal", secret.utf8.map { "\\" + String($0, radix: 8) }.joined()),
    ("numbers", secret.utf8.map { "\($0)" }.joined(separator: ", ")),
    ("numbers with 0x", secret.utf8.map { String(format: "0x%02x,", $0) }.joined()),
    ("one by one", secret.map { "\($0)" }.joined(separator: " ")),
    ("backwards", String(secret.reversed())),
    ("zero-width space", secret.replacing("T0ken", with: "T0\u{200B}ken")),
    ("control character", secret.replacing("T0ken", with: "T0\u{0}ken")),
    ("full-width", String(String.UnicodeScalarView(secret.unicodeScalars.map { wide($0) }))),
    ("half of it", String(secret.prefix(11))),
    ("host name", "https://s3cr-t-t0ken-1.example/"),
    ("query", "https://example.org/?t=\(FormEncoding.encode(secret))"),
  ]

  @Test("a server's text shows nothing of a secret, however it encodes it, and its words all the same", arguments: echoes + unforeseen)
  func quoted(_ name: String, _ text: String) {
    let redactor = Redactor([Secret(Self.secret)])
    let clean = redactor.quote("The token \(text) has expired")
    #expect(clean.hasPrefix("The token "), "\(name): \(clean)")
    #expect(clean.hasSuffix(" has expired"), "\(name): \(clean)")
    let shown = clean.replacing("[left out]", with: "").replacing("[redacted]", with: "").replacing("https://example.org", with: "")
    // What may be left is the punctuation and the single letters that stand between.
    #expect(shown.count <= "The token  has expired".count + 8, "\(name): \(clean)")
    for part in ["S3cr", "s3cr", "T0", "ken=", "53 33", "UzNj", "83,"] { #expect(!shown.contains(part), "\(name): \(clean)") }
  }

  @Test(
    "an ordinary description stays as it is",
    arguments: [
      "Token has been expired or revoked.", "expired access/refresh token", "Session not active", "refresh_token parameter missing",
      "AADSTS70008: The refresh token has expired due to inactivity.", "The client uses OAuth2.0, not OAuth 1.0a (UserNotFoundException)",
      "error code 700082 at 2026-01-01 10:23:45Z for 192.168.100.200", "account_selection_required_by_policy: ask again",
      "Le jeton a expiré à 12 h.", "令牌已过期，请重新登录并再次授权此应用程序然后重试一次谢谢".replacing("，", with: ","), "attempt 1 of 3",
      "The tenant's client-id isn't known", "50% of it, a=b",
    ])
  func ordinary(_ text: String) {
    #expect(Redactor([Secret(Self.secret)]).quote(text) == text)
  }

  @Test("of an address in a server's text, scheme and host stay; what is left out side by side is said once")
  func addresses() {
    let redactor = Redactor()
    #expect(redactor.quote("see https://docs.example.org:8443/a?b=c#d now") == "see https://docs.example.org:8443 now")
    #expect(redactor.quote("https://192.168.100.200:8443/ and http://[::1]:80/x") == "https://192.168.100.200:8443 and http://[::1]:80")
    #expect(redactor.quote("https://user:password@example.org/") == "[left out]")
    #expect(redactor.quote("Trace ID: 2a5a2b5e-1111-4222-8333-abcdefabcdef 0123456789abcdef, end") == "Trace ID: [left out] end")
    #expect(redactor.quote(String(repeating: "word ", count: 100)).count == 201)
  }

  @Test("a secret of fewer than four bytes is none: it would be in every text")
  func short() {
    #expect(Redactor([Secret("2"), Secret("abc")]).redact("429, abc, 2") == "429, abc, 2")
  }

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

  private static func wide(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    (0x21...0x7E).contains(scalar.value) ? Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar : scalar
  }

  private static func percent(_ text: String, uppercase: Bool) -> String {
    text.utf8.map { String(format: uppercase ? "%%%02X" : "%%%02x", $0) }.joined()
  }
}
