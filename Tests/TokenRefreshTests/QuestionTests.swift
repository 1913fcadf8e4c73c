import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

/// Runs that answer "a valid token now".
@Suite("Questions for a token") struct QuestionTests {
  private func question(_ validity: Duration) -> RefreshPayload {
    var payload = RefreshPayload(account: "mail")
    payload.minimumValidity = validity
    return payload
  }

  @Test("a token that is valid for long enough is not refreshed, whatever the margin, and the output says where it is")
  func valid() async throws {
    let fixture = try Fixture()
    try fixture.signIn(expiresIn: 400)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      let report = try await fixture.run(accounts, question(.seconds(300)))
      #expect(report.outcome == .noop)
      #expect(report.only?.result == .notDue)
      #expect(report.only?.place == TokenPlace(file: fixture.path("tokens.json"), member: "access_token"))
      #expect(server.requests.isEmpty)
      let refreshed = try await fixture.run(accounts, question(.seconds(500)))
      #expect(refreshed.outcome == .success)
      #expect(server.requests.count == 1)
      let output = String(decoding: try refreshed.output(limit: 65_536), as: UTF8.self)
      #expect(output.contains(#""token_file":"#) && output.contains(#""token_member":"access_token""#))
    }
  }

  @Test("trouble is an answer, not a failure: other runs try again")
  func trouble() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json("{}", status: 503) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)], question(.seconds(300)))
      #expect(report.outcome == .noop)
      #expect(report.only?.result == .retry)
    }
    #expect(
      try await fixture.run([fixture.account("none", endpoint: "http://127.0.0.1:1")], RefreshPayload(account: "none")).outcome == .failure)
  }

  @Test("a file of another library names its own member")
  func foreign() async throws {
    let fixture = try Fixture()
    try fixture.write(#"{"token": "t", "refresh_token": "r", "expiry": "2026-01-01T01:00:00Z"}"#, to: "tokens.json")
    let report = try await fixture.run([fixture.account(endpoint: "http://127.0.0.1:1")], question(.seconds(60)))
    #expect(report.only?.place?.member == "token")
  }

  @Test(
    "a payload that asks for nothing sensible is refused",
    arguments: [
      (#"{"min_validity": "5m"}"#, "needs account"), (#"{"account": "a", "min_validity": "2d"}"#, "1s to 1d"),
      (#"{"account": "a", "min_validity": "soon"}"#, "1s to 1d"), (#"{"look": true, "force": true}"#, "asks no server"),
      (#"{"look": true, "account": "a", "min_validity": "1m"}"#, "asks no server"),
    ])
  func refused(_ payload: String, _ part: String) {
    let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(RefreshPayload.self, from: Data(payload.utf8)) }
    #expect("\(String(describing: error))".contains(part))
  }
}
