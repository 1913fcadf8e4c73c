import Foundation
import StrictText
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Habits of servers") struct ServerHabitsTests {
  /// ``Fixture/rotation`` in one line, compressed in the ways that servers compress; the value of `Content-Encoding` before it.
  static let compressed: [(coding: String?, base64: String)] = [
    ("gzip", gzip), ("X-GZIP", gzip), (nil, gzip),
    // Of two members.
    (
      "gzip",
      "H4sIAAAAAAACA6tWSkxOTi0uji/Jz07NU7JSUHJ0dnYNDtbNSy3XTUxOSjG0SEkySU4GAGVSsK4oAAAAH4sIAAAAAAACAzNS0lFQKkpNK0otzogvyc9OzVOyUlAKcnULcg320M1LLdc1Nk8yNUwxtDRJNDcFKQYrii+pLEgFqXRKTSxKLQKJp1YUZAJNic8EmWBsZmBQCwCik6sxXAAAAA=="
    ),
    // Without the check at the end.
    (
      "gzip",
      "H4sIAAAAAAACA6tWSkxOTi0uji/Jz07NU7JSUHJ0dnYNDtbNSy3XTUxOSjG0SEkySU42UtJRUCpKTStKLc5AqA1ydQtyDfYAKzY2TzI1TDG0NEk0NwUpBiuKL6ksSAWpdEpNLEotAomnVhRkAk2JzwSZYGxmYFALAA=="
    ),
    // With the header of zlib, and without.
    (
      "deflate",
      "eJyrVkpMTk4tLo4vyc9OzVOyUlBydHZ2DQ7WzUst101MTkoxtEhJMklONlLSUVAqSk0rSi3OQKgNcnULcg32ACs2Nk8yNUwxtDRJNDcFKQYrii+pLEgFqXRKTSxKLQKJp1YUZAJNic8EmWBsZmBQCwDc/ikD"
    ),
    (
      "deflate",
      "q1ZKTE5OLS6OL8nPTs1TslJQcnR2dg0O1s1LLddNTE5KMbRISTJJTjZS0lFQKkpNK0otzkCoDXJ1C3IN9gArNjZPMjVMMbQ0STQ3BSkGK4ovqSxIBal0Sk0sSi0CiadWFGQCTYnPBJlgbGZgUAsA"
    ),
    (
      "gzip, gzip",
      "H4sIAAAAAAACA5Pv5mAAASbm1WFePn5+unp9+ifP+50N3hQUUFRSVsbLd+2st+51Xx8/L8MtHp5Gnn5mQZcCA7S8fLW9dM85rOAtKuUu4v3GoG1m5m9k6mO4xcTTxJxVk027S3+ljgfryhIvXx0vXabO5WEiKUy+nedZZibkpCUEcDPc6pVZ3wK0GADRKc/RgQAAAA=="
    ),
    // Not compressed at all.
    ("gzip", Data(Fixture.rotation.utf8).base64EncodedString()), ("deflate", Data(Fixture.rotation.utf8).base64EncodedString()),
  ]
  private static let gzip =
    "H4sIAAAAAAACA6tWSkxOTi0uji/Jz07NU7JSUHJ0dnYNDtbNSy3XTUxOSjG0SEkySU42UtJRUCpKTStKLc5AqA1ydQtyDfYAKzY2TzI1TDG0NEk0NwUpBiuKL6ksSAWpdEpNLEotAomnVhRkAk2JzwSZYGxmYFALANqNHK+EAAAA"

  @Test("an answer that is compressed though nobody asked is read, however it is compressed", arguments: compressed)
  func decompressed(_ coding: String?, _ base64: String) async throws {
    let bytes = Array(try #require(Data(base64Encoded: base64)))
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in
      TestServer.Reply(
        headers: [("Content-Type", "application/json")] + (coding.map { [("Content-Encoding", $0)] } ?? []), bytes: bytes)
    }) { server in
      let outcome = try await fixture.run([fixture.account(endpoint: server.address)]).outcome
      #expect(outcome == .success)
    }
    #expect(try fixture.members()["access_token"]?.text == Fixture.newAccessToken)
    #expect(try fixture.members()["refresh_token"]?.text == Fixture.newRefreshToken)
  }

  @Test("a small answer that grows beyond all bounds when it is decompressed is not read")
  func bomb() throws {
    // 300,000 bytes of JSON, compressed twice to 62.
    let bytes = try #require(Data(base64Encoded: "H4sIAAAAAAACA5Pv5mAAASbmtwcZeRkYeJgWaL1/ee+uHN8JRoZRgB8cmKBvPf+5/KPJLAwA8T8p5kgBAAA="))
    #expect(ContentCoding.plain(Array(bytes), codings: ["gzip", "gzip"], limit: ServerAnswer.largestBody) == nil)
    #expect(ContentCoding.plain(Array(bytes), codings: ["gzip", "gzip"], limit: 300_002)?.count == 300_002)
    #expect(ContentCoding.plain(Array(bytes), codings: ["br"], limit: ServerAnswer.largestBody)?.count == 328)
  }

  @Test("a web page at the first address of the metadata does not end the search")
  func pageForAnyAddress() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ request in
      let base = "http://" + (request.header("Host").first ?? "")
      switch request.path {
      case "/token": return .json(Fixture.rotation)
      case "/.well-known/openid-configuration": return .json(#"{"issuer": "\#(base)", "token_endpoint": "\#(base)/token"}"#)
      default: return TestServer.Reply(headers: [("Content-Type", "text/html")], body: "<!doctype html><title>App</title>")
      }
    }) { server in
      let outcome = try await fixture.run([fixture.account(endpoint: "", ["issuer": server.address])]).outcome
      #expect(outcome == .success)
    }
  }

  @Test("web pages at both addresses are trouble that may pass, and each address is named")
  func onlyPages() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in TestServer.Reply(headers: [("Content-Type", "text/html")], body: "<html>") }) { server in
      let report = try await fixture.run([fixture.account(endpoint: "", ["issuer": server.address])])
      #expect(report.only?.result == .retry)
      #expect(report.message.contains("/.well-known/openid-configuration"))
    }
  }

  @Test("one account may use the whole budget; several share it, 10 s at least")
  func share() async throws {
    let fixture = try Fixture(host: TestHost(remaining: .milliseconds(100), grace: .milliseconds(100)))
    try fixture.signIn()
    let over = Signal()
    try await TestServer.serving({ _ in
      await over.wait()
      return .json(Fixture.rotation)
    }) { server in
      // A test must not wait for 10 s: an account with a timeout of its own keeps it, whatever the budget is.
      let report = try await fixture.run([fixture.account(endpoint: server.address, ["timeout": "100ms"])])
      #expect(report.message.contains("did not answer within 0.1 seconds"))
      over.send()
    }
    let check = AccountCheck(payload: RefreshPayload(), secrets: ClientSecretReader(), host: TestHost(), redactor: Redactor())
    let server = TokenServer()
    let refresh = AccountRefresh(server: server, check: check, redactor: Redactor())
    #expect(refresh.share(waiting: 0) == .seconds(35))
    #expect(refresh.share(waiting: 1) == .seconds(15))
    #expect(refresh.share(waiting: 9) == .seconds(10))
  }

  @Test("a reader of the folder sees that an account is signed out, until it is not")
  func signedOutMark() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ request in
      request.form["refresh_token"] == "again"
        ? .json(Fixture.rotation) : .json(#"{"error": "invalid_grant", "error_description": "\#(Fixture.refreshToken)"}"#, status: 400)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      try await fixture.run(accounts)
      let mark = try fixture.text("tokens.json.signed-out")
      #expect(mark.contains(#""error" : "invalid_grant""#))
      #expect(mark.contains(#""since" : "2026-01-01T00:00:00Z""#))
      #expect(!mark.contains(Fixture.refreshToken))
      fixture.host.advance(by: 60)
      try await fixture.run(accounts)
      #expect(try fixture.text("tokens.json.signed-out") == mark)
      try fixture.write(#"{"access_token": "x", "refresh_token": "again", "expires_at": 5}"#, to: "tokens.json")
      try await fixture.run(accounts)
      #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
    }
  }

  @Test("an answer whose text is whole counts, though the server never ends it", arguments: [nil, "gzip"])
  func endless(_ coding: String?) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let never = Signal()
    let text = Fixture.rotation + "\n"
    let bytes = try coding == nil ? Array(text.utf8) : Array(#require(Data(base64Encoded: Self.gzip)))
    try await TestServer.serving({ _ in
      TestServer.Reply(headers: coding.map { [("Content-Encoding", $0)] } ?? [], bytes: bytes, end: never)
    }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address, ["timeout": "2s"])])
      #expect(report.only?.result == .refreshed)
      never.send()
    }
    #expect(try fixture.members()["refresh_token"]?.text == Fixture.newRefreshToken)
    #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
  }

  @Test("a body is whole with its last brace, in whatever parts it arrives, and not before")
  func parts() {
    var body = AnswerBody(codings: [])
    let text = Array(Fixture.rotation.utf8)
    for byte in text.dropLast() { #expect(body.take([byte]) == nil) }
    #expect(body.take(text.suffix(1)) == text)
    #expect(body.take([0x0A]) == text + [0x0A])
    #expect(body.plain == text + [0x0A])
    var large = AnswerBody(codings: [])
    #expect(large.take([UInt8](repeating: UInt8(ascii: "}"), count: ServerAnswer.largestBody + 1)) == nil)
    #expect(large.isTooLarge)
    #expect(large.plain == nil)
  }

  @Test("an answer that was kept before a kill is taken over by the next run")
  func keptAnswer() async throws {
    let fixture = try Fixture()
    try fixture.signIn(extra: #""mine": 7"#)
    let store = try TokenFileStore(path: fixture.path("tokens.json"))
    let replacement = try store.prepare(replacing: try store.read())
    // As a run leaves it that is killed the moment the answer is there.
    replacement.keep(answer: Array(Fixture.rotation.utf8), asked: TestHost.start)

    let report = try await fixture.run([fixture.account(endpoint: "http://127.0.0.1:1/")])
    #expect(report.only?.detail == "recovered from an interrupted run")
    let members = try fixture.members()
    #expect(members["refresh_token"]?.text == Fixture.newRefreshToken)
    #expect(members["expires_at"] == .integer(Int64(TestHost.start.timeIntervalSince1970) + 3600))
    #expect(members["mine"] == .integer(7))
    #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
  }

  @Test("an answer that another user could have left is not taken over, and nobody else can open the lock")
  func foreignAnswer() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let store = try TokenFileStore(path: fixture.path("tokens.json"))
    try store.prepare(replacing: try store.read()).keep(answer: Array(Fixture.rotation.utf8), asked: TestHost.start)
    let answer = try #require(fixture.names.first { $0.hasSuffix("-answer") })
    #expect(chmod(fixture.path(answer), 0o644) == 0)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .success && report.only?.detail != "recovered from an interrupted run")
      #expect(server.requests.count == 1)
    }
    #expect(chmod(fixture.path(".tokens.json.lock"), 0o666) == 0)
    let lock = try #require(try store.lock())
    var status = stat()
    #expect(stat(fixture.path(".tokens.json.lock"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    lock.release()
  }

  @Test(
    "an answer that was kept in part, or refused, is removed",
    arguments: [#"{"access_token": "a", "refr"#, #"{"error": "invalid_grant"}"#, ""])
  func uselessAnswer(_ body: String) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let store = try TokenFileStore(path: fixture.path("tokens.json"))
    try store.prepare(replacing: try store.read()).keep(answer: Array(body.utf8), asked: TestHost.start)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let outcome = try await fixture.run([fixture.account(endpoint: server.address)]).outcome
      #expect(outcome == .success)
      #expect(server.requests.count == 1)
    }
    #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
  }
}
