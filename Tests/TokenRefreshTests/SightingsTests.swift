import Foundation
import Synchronization
import TaskHostSDK
import Testing

@testable import TokenRefresh

/// The events that tell of sign-ins and sign-outs.
@Suite("Sightings") struct SightingsTests {
  private let look = RefreshPayload(look: true)

  @Test("a file that appears or changes from outside is a sign-in, one that goes a sign-out; each is told once")
  func files() async throws {
    let fixture = try Fixture()
    let accounts = [fixture.account(endpoint: "http://127.0.0.1:1")]
    func look() async throws -> [String] {
      let before = fixture.host.events.count
      for _ in 0..<2 { try await fixture.run(accounts, self.look) }
      return Array(fixture.host.events.dropFirst(before))
    }
    #expect(try await look() == [], "nobody signed out: there never was a file")
    try fixture.signIn(expiresIn: 3000)
    #expect(try await look() == ["signed-in mail"])
    #expect(fixture.host.payloads.last?.tokenFile == fixture.path("tokens.json"))
    #expect(fixture.host.payloads.last?.expiresAt == "2026-01-01T00:50:00Z")
    try fixture.signIn(expiresIn: 3001)
    #expect(try await look() == ["signed-in mail"])
    try FileManager.default.removeItem(atPath: fixture.path("tokens.json"))
    #expect(try await look() == ["signed-out mail"])
    #expect(fixture.host.payloads.last?.error == nil)
  }

  @Test("a file that is there when it is first seen is no sign-in")
  func first() async throws {
    let fixture = try Fixture()
    try fixture.signIn(expiresIn: 3000)
    try await fixture.run([fixture.account(endpoint: "http://127.0.0.1:1")], look)
    #expect(fixture.host.events == [])
  }

  @Test("a file that cannot be used is neither")
  func unusable() async throws {
    let fixture = try Fixture()
    let accounts = [fixture.account(endpoint: "http://127.0.0.1:1")]
    try fixture.signIn(expiresIn: 3000)
    try await fixture.run(accounts, look)
    try fixture.write("{}", to: "tokens.json", mode: 0o644)
    #expect(try await fixture.run(accounts, look).only?.result == .failed)
    #expect(fixture.host.events == [])
  }

  @Test("a refresh is told after the tokens are on the disk, and its own change is no sign-in")
  func refreshed() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      try await fixture.run(accounts)
      #expect(fixture.host.events == ["refreshed mail"])
      #expect(fixture.host.payloads.last?.expiresAt == "2026-01-01T01:00:00Z")
      try await fixture.run(accounts, look)
      #expect(fixture.host.events == ["refreshed mail"])
    }
  }

  @Test("a final refusal is a sign-out, told once; the next good tokens are a sign-in")
  func refusal() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ request in
      request.form["refresh_token"] == "good"
        ? .json(Fixture.rotation) : .json(#"{"error": "invalid_grant", "error_description": "revoked"}"#, status: 400)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      for _ in 0..<3 { try await fixture.run(accounts) }
      #expect(fixture.host.events == ["signed-out mail"])
      #expect(fixture.host.payloads.last?.error == "invalid_grant")
      try fixture.write(#"{"access_token": "a-token", "refresh_token": "good"}"#, to: "tokens.json")
      try await fixture.run(accounts)
      #expect(fixture.host.events == ["signed-out mail", "signed-in mail", "refreshed mail"])
    }
  }

  @Test("a server that was corrected is a sign-in, though the file is the same")
  func corrected() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let isCorrected = Mutex(false)
    try await TestServer.serving({ _ in
      isCorrected.withLock { $0 } ? .json(Fixture.rotation) : .json(#"{"error": "invalid_grant"}"#, status: 400)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      try await fixture.run(accounts)
      isCorrected.withLock { $0 = true }
      try await fixture.run(accounts, RefreshPayload(account: "mail", force: true))
      #expect(fixture.host.events == ["signed-out mail", "signed-in mail", "refreshed mail"])
    }
  }

  @Test("an event that cannot be raised is told by the next run, and costs only a warning")
  func broken() async throws {
    let fixture = try Fixture()
    let accounts = [fixture.account(endpoint: "http://127.0.0.1:1")]
    try await fixture.run(accounts, look)
    try fixture.signIn(expiresIn: 3000)
    fixture.host.breakState()
    #expect(try await fixture.run(accounts, look).only?.result == .notDue)
    #expect(fixture.host.log.contains { $0.hasPrefix("warning: mail: ") })
  }

  @Test("a look asks no server, and says what is due")
  func asksNobody() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)], look)
      #expect(report.outcome == .noop)
      #expect(report.only?.result == .due)
      #expect(report.message.contains("mail is due"))
      #expect(server.requests.isEmpty)
    }
  }
}
