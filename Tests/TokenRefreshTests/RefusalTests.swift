import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Refusal") struct RefusalTests {
  @Test(
    "a final refusal signs the account out, and it is not tried again until its file changes",
    arguments: [
      (400, #"{"error": "invalid_grant", "error_description": "gone: \#(Fixture.refreshToken)"}"#, "invalid_grant"),
      (401, #"{"error": "invalid_client"}"#, "invalid_client"),
      (401, "<html>who are you</html>", "http_401"),
      (400, "<html>bad request</html>", "http_400"),
      (400, "", "http_400"),
      (200, #"{"error": "bad_refresh_token"}"#, "bad_refresh_token"),
    ])
  func signedOut(_ status: Int, _ body: String, _ code: String) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let before = try fixture.text()
    try await TestServer.serving({ request in
      request.form["refresh_token"] == "signed-in-again" ? .json(Fixture.rotation) : .json(body, status: status)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      for _ in 1...3 {
        let report = try await fixture.run(accounts)
        #expect(report.outcome == .failure)
        #expect(report.only?.result == .signedOut)
        #expect(report.only?.error == code)
        #expect(report.message.contains("mail is signed out"))
        #expect(server.requests.count == 1)
      }
      #expect(try fixture.text() == before)
      #expect(try fixture.names == [".tokens.json.lock", "tokens.json", "tokens.json.signed-out"])

      try fixture.write(#"{"access_token": "x", "refresh_token": "signed-in-again", "expires_at": 5}"#, to: "tokens.json")
      #expect(try await fixture.run(accounts).outcome == .success)
      #expect(server.requests.count == 2)
      #expect(fixture.host.records.isEmpty)
    }
  }

  @Test("a corrected client is tried again; so is an account a person names with force, but not force alone")
  func triedAgain() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(#"{"error": "invalid_client"}"#, status: 401) }) { server in
      let account = fixture.account(endpoint: server.address)
      try await fixture.run([account])
      try await fixture.run([account], RefreshPayload(force: true))
      #expect(server.requests.count == 1)
      try await fixture.run([account], RefreshPayload(account: "mail", force: true))
      #expect(server.requests.count == 2)
      try await fixture.run([account.merging(["client_id": "another"]) { $1 }])
      #expect(server.requests.count == 3)
    }
  }

  @Test("a sign-in while the server refuses the former tokens leaves no mark, and its tokens are used by the next run")
  func signedInMeanwhile() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ request in
      if request.form["refresh_token"] == "signed-in-meanwhile" { return .json(Fixture.rotation) }
      try? fixture.write(#"{"access_token": "x", "refresh_token": "signed-in-meanwhile", "expires_at": 5}"#, to: "tokens.json")
      return .json(#"{"error": "invalid_grant"}"#, status: 400)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      let report = try await fixture.run(accounts)
      #expect(report.only?.result == .retry && report.only?.detail?.contains("someone signed in") == true, "\(report)")
      #expect(try !fixture.names.contains("tokens.json.signed-out"))
      #expect(fixture.host.records.isEmpty && !fixture.host.events.contains("signed-out mail"))
      #expect(try await fixture.run(accounts).only?.result == .refreshed)
      #expect(try !fixture.names.contains("tokens.json.signed-out"))
    }
  }

  @Test("a new sign-in that is not due yet ends the refusal, and what was kept of it is removed")
  func signedInAgain() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(#"{"error": "invalid_grant"}"#, status: 400) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      try await fixture.run(accounts)
      try fixture.signIn(expiresIn: 3000)
      #expect(try await fixture.run(accounts).outcome == .noop)
      #expect(fixture.host.records.isEmpty)
    }
  }

  @Test("a signed-out account beside a healthy one does not fail the run, but is named by each")
  func besideHealthy() async throws {
    let fixture = try Fixture()
    for name in ["out", "well"] { try fixture.signIn(name + ".json") }
    try await TestServer.serving({ request in
      request.path == "/out" ? .json(#"{"error": "invalid_grant"}"#, status: 400) : .json(Fixture.rotation)
    }) { server in
      let accounts = ["out", "well"].map { fixture.account($0, endpoint: server.address + "/" + $0) }
      let first = try await fixture.run(accounts)
      #expect(first.outcome == .success)
      let second = try await fixture.run(accounts)
      #expect(second.outcome == .noop)
      for report in [first, second] { #expect(report.message.contains("out is signed out: invalid_grant")) }
    }
  }

  @Test("an account without a token file is signed out, and nobody is asked")
  func missingFile() async throws {
    let fixture = try Fixture()
    let report = try await fixture.run([fixture.account(endpoint: "http://127.0.0.1:1/")])
    #expect(report.only?.result == .signedOut)
    #expect(report.outcome == .failure)
    #expect(report.message.contains("sign in to create it"))
  }

  @Test("a file without a refresh token fails, and says what to do")
  func noRefreshToken() async throws {
    let fixture = try Fixture()
    try fixture.write(#"{"access_token": "a", "expires_at": 5}"#, to: "tokens.json")
    let report = try await fixture.run([fixture.account(endpoint: "http://127.0.0.1:1/")])
    #expect(report.only?.result == .failed)
    #expect(report.message.contains("no refresh_token"))
  }
}
