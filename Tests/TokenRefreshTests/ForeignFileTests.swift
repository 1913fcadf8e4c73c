import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Files of other libraries") struct ForeignFileTests {
  @Test(
    "a file of google-auth is refreshed in its own words, and gets no others",
    arguments: [#""2026-01-01T00:00:30.123456Z""#, #""2026-01-01T00:00:30.123456""#, #""2025-12-31T23:00:30Z""#, "null"])
  func googleAuth(_ expiry: String) async throws {
    let fixture = try Fixture()
    try fixture.write(
      """
      {"token": "\(Fixture.accessToken)", "refresh_token": "\(Fixture.refreshToken)", "token_uri": "https://oauth2.googleapis.com/token",
       "client_id": "c", "client_secret": "s", "scopes": ["a", "b"], "universe_domain": "googleapis.com", "expiry": \(expiry)}
      """, to: "tokens.json")
    try await TestServer.serving({ _ in
      .json(#"{"access_token": "\#(Fixture.newAccessToken)", "expires_in": 3599, "scope": "a b", "token_type": "Bearer", "id_token": "i"}"#)
    }) { server in
      let outcome = try await fixture.run([fixture.account(endpoint: server.address)]).outcome
      #expect(outcome == .success)
    }
    let members = try fixture.members()
    #expect(members["token"]?.text == Fixture.newAccessToken)
    #expect(members["refresh_token"]?.text == Fixture.refreshToken)
    #expect(members["expiry"] == "2026-01-01T00:59:59Z")
    #expect(
      members.keys.sorted() == [
        "client_id", "client_secret", "expiry", "refresh_token", "scopes", "token", "token_uri", "universe_domain",
      ])
  }

  @Test("a file of Go's oauth2 keeps access_token and expiry, and its zone is read")
  func go() async throws {
    let fixture = try Fixture()
    // 23:59:30 in UTC: over.
    try fixture.write(
      """
      {"access_token": "\(Fixture.accessToken)", "token_type": "Bearer", "refresh_token": "\(Fixture.refreshToken)",
       "expiry": "2026-01-01T01:59:30.123456789+02:00"}
      """, to: "tokens.json")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      let outcome = try await fixture.run(accounts).outcome
      #expect(outcome == .success)
      #expect(server.requests.count == 1)
    }
    let members = try fixture.members()
    #expect(members["access_token"]?.text == Fixture.newAccessToken)
    #expect(members["refresh_token"]?.text == Fixture.newRefreshToken)
    #expect(members["expiry"] == "2026-01-01T01:00:00Z")
    #expect(members.keys.sorted() == ["access_token", "expiry", "refresh_token", "token_type"])
  }

  @Test("a share of the lifetime counts from when such a file was written")
  func margin() throws {
    let written = TestHost.start
    let file = try TokenFile(
      json: Array(#"{"access_token": "a", "refresh_token": "r", "expiry": "2026-01-01T01:00:00Z"}"#.utf8), modified: written)
    let due = RefreshPolicy.dueDate(file, margin: .percent(50), now: written)
    #expect(due == written + 1800)
  }

  @Test("Go's zero time means that the end is not known")
  func zeroTime() throws {
    let file = try TokenFile(json: Array(#"{"access_token": "a", "expiry": "0001-01-01T00:00:00Z"}"#.utf8))
    #expect(file.expiresAt == nil)
  }
}
