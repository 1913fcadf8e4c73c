import Foundation
import StrictText
import Synchronization
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Refresh") struct RefreshTests {
  @Test("a due token is exchanged, and the rotated refresh token stored with everything else the file held")
  func rotation() async throws {
    let fixture = try Fixture()
    try fixture.signIn(extra: #""scope": "mail", "account_uid": 12345678901234567, "nested": {"a": [1.5, null, true]}"#)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address + "/token")])
      #expect(report.outcome == .success)
      #expect(report.only?.result == .refreshed)
      #expect(report.only?.expiresAt == TestHost.start + 3600)
      #expect(report.only?.refreshAt == TestHost.start + 2880)
      let request = try #require(server.requests.first)
      #expect(request.method == "POST")
      #expect(request.path == "/token")
      #expect(request.header("Content-Type") == ["application/x-www-form-urlencoded"])
      #expect(
        request.form == ["grant_type": "refresh_token", "refresh_token": Fixture.refreshToken, "client_id": "client 1"])
    }
    let members = try fixture.members()
    #expect(members["access_token"] == .string(Fixture.newAccessToken))
    #expect(members["refresh_token"] == .string(Fixture.newRefreshToken))
    #expect(members["expires_at"] == .integer(1_767_229_200))
    #expect(members["issued_at"] == .integer(1_767_225_600))
    #expect(members["scope"] == .string("mail"))
    #expect(members["account_uid"] == .integer(12_345_678_901_234_567))
    #expect(members["nested"] == .object(["a": .array([.number(1.5), .null, .bool(true)])]))
    #expect(members["expires_in"] == nil)
    let mode = try FileManager.default.attributesOfItem(atPath: fixture.path("tokens.json"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
    #expect(fixture.host.progress == [[0, 1], [1, 1]])
  }

  @Test("a refresh token the server does not replace stays")
  func noRotation() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(Fixture.noRotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .success)
    }
    #expect(try fixture.members()["refresh_token"] == .string(Fixture.refreshToken))
    #expect(try fixture.members()["access_token"] == .string(Fixture.newAccessToken))
  }

  @Test("nothing due is a noop, and nobody is asked; force asks")
  func notDue() async throws {
    let fixture = try Fixture()
    try fixture.signIn(expiresIn: 3000)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      let report = try await fixture.run(accounts)
      #expect(report.outcome == .noop)
      #expect(report.only?.result == .notDue)
      #expect(server.requests.isEmpty)
      #expect(try fixture.names == ["tokens.json"])
      #expect(try await fixture.run(accounts, RefreshPayload(account: "mail", force: true)).outcome == .success)
      #expect(server.requests.count == 1)
      #expect(try await fixture.run(accounts).outcome == .noop)
    }
  }

  @Test(
    "a client with a secret authenticates by header, or in the form when told so",
    arguments: ["", "client_secret_basic", "client_secret_post"])
  func authentication(_ method: String) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try fixture.write(Fixture.clientSecret + "\n", to: "secret")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let source = method == "" ? ["client_secret_env": "TEST_SECRET"] : ["client_secret_file": fixture.path("secret")]
      let account = fixture.account(endpoint: server.address, source.merging(["client_auth": method, "scope": "a b"]) { $1 })
      #expect(try await fixture.run([account]).outcome == .success)
      let request = try #require(server.requests.first)
      #expect(request.form["scope"] == "a b")
      if method == "client_secret_post" {
        #expect(request.header("Authorization").isEmpty)
        #expect(request.form["client_secret"] == Fixture.clientSecret)
        #expect(request.form["client_id"] == "client 1")
      } else {
        // RFC 6749 §2.3.1: both are encoded before they are joined; a space as %20, which every server reads.
        let expected = Data("client%201:S3cret%20%26%20co%3A%C3%BC".utf8).base64EncodedString()
        #expect(request.header("Authorization") == ["Basic " + expected])
        #expect(request.form["client_secret"] == nil)
        #expect(request.form["client_id"] == nil)
      }
    }
  }

  @Test("a client secret that cannot be had fails the account, and the server is not asked")
  func noSecret() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address, ["client_secret_env": "TEST_ABSENT"])])
      #expect(report.outcome == .failure)
      #expect(report.message.contains("TEST_ABSENT is not set"))
      #expect(server.requests.isEmpty)
    }
  }

  @Test("times in RFC 3339 stay in RFC 3339")
  func timeForm() async throws {
    let fixture = try Fixture()
    try fixture.write(
      """
      {"access_token": "\(Fixture.accessToken)", "refresh_token": "\(Fixture.refreshToken)", "expires_at": "2026-01-01T02:00:30+02:00"}
      """, to: "tokens.json")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .success)
    }
    #expect(try fixture.members()["expires_at"] == .string("2026-01-01T01:00:00Z"))
    #expect(try fixture.members()["issued_at"] == .string("2026-01-01T00:00:00Z"))
  }

  @Test("one account's trouble does not stop the others, and a rotated token is on the disk before anything else happens")
  func severalAccounts() async throws {
    let events = Mutex<[String]>([])
    let path = Mutex("")
    let host = TestHost(observe: { event in
      let stored = (try? String(contentsOfFile: path.withLock { $0 }, encoding: .utf8))?.contains(Fixture.newRefreshToken) == true
      events.withLock { $0.append("\(event) \(stored)") }
    })
    let fixture = try Fixture(host: host)
    for name in ["broken", "good", "later"] { try fixture.signIn(name + ".json", expiresIn: name == "later" ? 100 : 50) }
    path.withLock { $0 = fixture.path("good.json") }
    try await TestServer.serving({ request in
      if request.path == "/broken" { return .json("{}", status: 500) }
      events.withLock { $0.append("request \(request.path)") }
      return .json(Fixture.rotation)
    }) { server in
      let accounts = ["later", "good", "broken"].map { fixture.account($0, endpoint: server.address + "/" + $0) }
      let report = try await fixture.run(accounts)
      #expect(report.accounts.map(\.result) == [.refreshed, .refreshed, .retry])
      #expect(report.outcome == .retry(after: nil))
    }
    let seen = events.withLock { $0 }
    let asked = try #require(seen.firstIndex(of: "request /good"))
    // Whatever came after the answer, the log, the state or the next account, found the token stored.
    #expect(seen[asked + 1].hasSuffix("true"))
    #expect(seen.contains("request /later"))
  }

  @Test("a payload that names an account touches only that one; an unknown one fails and names those there are")
  func oneAccount() async throws {
    let fixture = try Fixture()
    for name in ["a", "b"] { try fixture.signIn(name + ".json") }
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let accounts = ["a", "b"].map { fixture.account($0, endpoint: server.address) }
      let report = try await fixture.run(accounts, RefreshPayload(account: "b"))
      #expect(report.accounts.map(\.name) == ["b"])
      #expect(server.requests.count == 1)
      let unknown = try await fixture.run(accounts, RefreshPayload(account: "c"))
      #expect(unknown.outcome == .failure)
      #expect(unknown.message.contains("a, b"))
    }
  }

  @Test("no accounts is a noop that says so")
  func noAccounts() async throws {
    let report = await TokenRefresher(settings: TokenRefreshSettings()).run(RefreshPayload(), host: TestHost())
    #expect(report.outcome == .noop)
    #expect(report.message == "no accounts are configured")
  }

  @Test("state that cannot be read or written costs a warning, not the refresh")
  func brokenState() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    fixture.host.breakState()
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .success)
    }
    #expect(fixture.host.log.contains { $0.hasPrefix("warning: mail: the record of the last run cannot be read") })
  }
}
