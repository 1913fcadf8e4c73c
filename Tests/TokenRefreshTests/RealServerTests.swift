import Foundation
import StrictText
import TaskHostSDK
import Testing

@testable import TokenRefresh

/// The plugin against authorization servers that others wrote.
@Suite(
  "Real authorization servers", .timeLimit(.minutes(5)), .serialized,
  .enabled(if: RealServer.python != nil, "the servers are not installed: make token-servers installs them and runs this"))
struct RealServerTests {
  private let force = RefreshPayload(account: "mail", force: true)

  private func account(_ fixture: Fixture, _ server: RealServer) throws -> [String: JSONValue] {
    try fixture.write(server.facts.client_secret, to: "secret")
    var members = ["client_id": server.facts.client_id, "client_secret_file": fixture.path("secret")]
    members["issuer"] = server.facts.issuer
    return fixture.account(endpoint: server.facts.token_endpoint ?? "", members)
  }

  private func write(_ tokens: RealServer.Tokens, _ fixture: Fixture) throws {
    try fixture.write(
      #"{"access_token": "\#(tokens.access_token)", "refresh_token": "\#(tokens.refresh_token)"}"#, to: "tokens.json")
  }

  private func present(_ fixture: Fixture) throws -> RealServer.Tokens {
    try JSONDecoder().decode(RealServer.Tokens.self, from: Data(try fixture.text().utf8))
  }

  /// None of these is in what left the plugin.
  private func expectHidden(_ tokens: [RealServer.Tokens], _ fixture: Fixture, _ report: RefreshReport) throws {
    let output = String(decoding: try report.output(limit: 65_536), as: UTF8.self)
    for text in fixture.host.log + [report.message, output] {
      for token in tokens { #expect(!text.contains(token.access_token) && !text.contains(token.refresh_token)) }
    }
  }

  @Test("rotated tokens are stored, and the server takes each of them", arguments: RealServer.Kind.allCases)
  func rotation(_ kind: RealServer.Kind) async throws {
    let fixture = try Fixture()
    let server = try await RealServer.start(kind)
    let account = try account(fixture, server)
    var seen = [try await server.signIn()]
    try write(seen[0], fixture)
    for round in 0..<3 {
      // The first has no expiry, and is due.
      let report = try await fixture.run([account], round == 0 ? RefreshPayload() : force)
      #expect(report.only?.result == .refreshed, "\(report.message)")
      #expect(report.only?.expiresAt == TestHost.start + 3600)
      let tokens = try present(fixture)
      #expect(!seen.contains { $0.refresh_token == tokens.refresh_token })
      // Within one second, Canaille gives the same access token again, which it revoked with the one before.
      let isNew = !seen.contains { $0.access_token == tokens.access_token }
      #expect(isNew || kind == .canaille)
      if isNew { #expect(try await server.takes(tokens.access_token)) }
      seen.append(tokens)
      try expectHidden(seen, fixture, report)
    }
    #expect(fixture.host.events == ["refreshed mail", "refreshed mail", "refreshed mail"])
  }

  @Test("two runs at the same time exchange a refresh token once, so that the server sees no reuse", arguments: RealServer.Kind.allCases)
  func atOnce(_ kind: RealServer.Kind) async throws {
    let fixture = try Fixture()
    let server = try await RealServer.start(kind)
    let account = try account(fixture, server)
    try write(try await server.signIn(), fixture)
    let results = try await withThrowingTaskGroup(of: AccountReport.Result?.self) { group in
      for _ in 0..<4 { group.addTask { try await fixture.run([account]).only?.result } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.filter { $0 == .refreshed }.count == 1, "\(results)")
    #expect(try await server.takes(try present(fixture).access_token))
    #expect(try await fixture.run([account], force).only?.result == .refreshed)
  }

  @Test(
    "a refresh token that was used is a sign-out; a server that detects reuse has then revoked the newest tokens too",
    arguments: RealServer.Kind.allCases)
  func reuse(_ kind: RealServer.Kind) async throws {
    let fixture = try Fixture()
    let server = try await RealServer.start(kind)
    let account = try account(fixture, server)
    let first = try await server.signIn()
    try write(first, fixture)
    try await fixture.run([account])
    let newest = try present(fixture)
    // Somebody puts back an old copy of the file.
    try write(first, fixture)
    let report = try await fixture.run([account])
    #expect(report.only?.result == .signedOut, "\(report.message)")
    #expect(report.only?.error == "invalid_grant")
    #expect(fixture.host.events == ["refreshed mail", "signed-in mail", "signed-out mail"])
    #expect(try fixture.names.contains("tokens.json.signed-out"))
    try expectHidden([first, newest], fixture, report)
    if server.facts.detects_reuse {
      #expect(try await !server.takes(newest.access_token))
      try write(newest, fixture)
      #expect(try await fixture.run([account]).only?.result == .signedOut)
    }
    // The next sign-in is good again.
    try write(try await server.signIn(), fixture)
    #expect(try await fixture.run([account]).only?.result == .refreshed)
  }

  @Test("a wrong client secret is a final refusal of the client", arguments: RealServer.Kind.allCases)
  func client(_ kind: RealServer.Kind) async throws {
    let fixture = try Fixture()
    let server = try await RealServer.start(kind)
    let account = try account(fixture, server)
    try write(try await server.signIn(), fixture)
    try fixture.write("another secret", to: "secret")
    let report = try await fixture.run([account])
    #expect(report.only?.result == .signedOut, "\(report.message)")
    #expect(report.only?.error == "invalid_client")
    // Corrected, without a new sign-in.
    try fixture.write(server.facts.client_secret, to: "secret")
    #expect(try await fixture.run([account]).only?.result == .refreshed)
  }
}
