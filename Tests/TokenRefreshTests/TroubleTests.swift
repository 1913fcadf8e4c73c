import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Trouble") struct TroubleTests {
  @Test(
    "trouble that may pass is a retry, and the file stays as it is",
    arguments: [
      TestServer.Reply.json(#"{"error": "server_error"}"#, status: 500),
      .json("", status: 503),
      .json(#"{"error": "temporarily_unavailable", "error_description": "\#(Fixture.refreshToken)"}"#, status: 400),
      .json("not found", status: 404),
      .json("forbidden", status: 403),
      .json(#"{"access_token": "#),
      .json("[]"),
      .json(#"{"token_type": "Bearer"}"#),
      .json(#"{"access_token": "\#(String(repeating: "x", count: 70_000))"}"#),
    ])
  func temporary(_ reply: TestServer.Reply) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let before = try fixture.text()
    try await TestServer.serving({ _ in reply }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .retry(after: nil))
      #expect(report.only?.result == .retry)
      #expect(try fixture.text() == before)
      #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
    }
  }

  @Test(
    "Retry-After is honoured, in seconds and as a date, also by the next run",
    arguments: [
      (503, "120"), (429, "120"), (429, "Thu, 01 Jan 2026 00:02:00 GMT"), (503, "Thursday, 01-Jan-26 00:02:00 GMT"),
    ])
  func retryAfter(_ status: Int, _ value: String) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json("", status: status, headers: [("Retry-After", value)]) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      #expect(try await fixture.run(accounts).outcome == .retry(after: .seconds(120)))
      fixture.host.advance(by: 30)
      #expect(try await fixture.run(accounts).outcome == .retry(after: .seconds(90)))
      #expect(server.requests.count == 1)
      fixture.host.advance(by: 91)
      try await fixture.run(accounts)
      #expect(server.requests.count == 2)
    }
  }

  @Test("a connection refused is a retry")
  func refused() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let port = try await TestServer.refusingPort()
    let report = try await fixture.run([fixture.account(endpoint: "http://127.0.0.1:\(port)/token")])
    #expect(report.outcome == .retry(after: nil))
    #expect(report.message.contains("cannot talk to http://127.0.0.1:\(port)/token"))
    #expect(report.message.contains("refused"))
  }

  @Test("a redirect is not followed, and the settings are to blame")
  func redirect() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ request in
      let place = "/elsewhere?t=" + FormEncoding.encode(Fixture.refreshToken)
      return .json("", status: 307, headers: [("Location", "http://\(request.header("Host").first ?? "")\(place)")])
    }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .failure)
      #expect(report.message.contains("redirects to \(server.address),"))
      #expect(server.requests.count == 1)
    }
  }

  @Test("a server that does not answer in time is a retry")
  func timeout() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let over = Signal()
    try await TestServer.serving({ _ in
      await over.wait()
      return .json(Fixture.rotation)
    }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address, ["timeout": "100ms"])])
      #expect(report.outcome == .retry(after: nil))
      #expect(report.message.contains("did not answer within 0.1 seconds"))
      over.send()
    }
  }

  @Test("an account in trouble comes after the others in the next run")
  func order() async throws {
    let fixture = try Fixture()
    for name in ["first", "second"] { try fixture.signIn(name + ".json", expiresIn: name == "first" ? 1 : 2) }
    try await TestServer.serving({ request in .json("", status: 500) }) { server in
      let accounts = ["first", "second"].map { fixture.account($0, endpoint: server.address + "/" + $0) }
      try await fixture.run(accounts, RefreshPayload(account: "first"))
      try await fixture.run(accounts)
      #expect(server.requests.map(\.path) == ["/first", "/second", "/first"])
    }
  }
}
