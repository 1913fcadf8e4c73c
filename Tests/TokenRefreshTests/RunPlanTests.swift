import Foundation
import TaskHostSDK
import TaskHostTesting
import Testing

@testable import TokenRefresh

/// The requests that the plugin has of its own, under the test kit's scheduler and virtual clock, which begins when the fixture's does.
@Suite("Run plan", .timeLimit(.minutes(5))) struct RunPlanTests {
  private typealias Kit = TaskHostTesting.TestHost

  private struct Settings: Encodable {
    struct Account: Encodable { let name: String, token_file: String, client_id = "client", token_endpoint: String }
    let accounts: [Account]
  }

  private func kit(
    _ fixture: Fixture, _ names: [String], endpoint: String = "http://127.0.0.1:1", conditions: Conditions? = nil
  ) throws -> Kit {
    var options = TestHostOptions()
    if let conditions { options.conditions = conditions }
    let accounts = names.map { Settings.Account(name: $0, token_file: fixture.path($0 + ".json"), token_endpoint: endpoint) }
    return try Kit(TokenRefreshTask.self, settings: Settings(accounts: accounts), options: options)
  }

  private func pending(_ key: String, _ kit: Kit) -> HostedRequest? { kit.pendingRequests.last { $0.submitted.uniqueKey == key } }

  @Test("after the look at launch, the next run is when the first token needs it, and it moves with each refresh")
  func next() async throws {
    let fixture = try Fixture()
    try fixture.signIn("mail.json", expiresIn: 3000)
    try fixture.signIn("crm.json", expiresIn: 2000)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let kit = try kit(fixture, ["mail", "crm"], endpoint: server.address)
      let look = try #require(try await kit.runNext())
      #expect(look.result == .noop)
      #expect(server.requests.isEmpty)
      // 20 % of an hour before the expiry, to the second.
      let next = try #require(pending("next", kit))
      #expect(abs((next.due - .seconds(2000 - 720)) / .seconds(1)) < 1, "\(next.due)")
      let first = try #require(try await kit.runNext())
      #expect(first.requestID == next.id)
      #expect(first.result == .success, "\(first)")
      #expect(first.events.map(\.name) == ["token-refresh.refreshed"])
      #expect(try first.events.first?.payload(as: RaisedPayload.self).account == "crm")
      // The same request has moved to the other account's time.
      let moved = try #require(pending("next", kit))
      #expect(moved.id == next.id)
      #expect(abs((moved.due - .seconds(3000 - 720)) / .seconds(1)) < 1, "\(moved.due)")
      #expect(try await kit.runNext()?.events.map(\.name) == ["token-refresh.refreshed"])
      #expect(server.requests.count == 2)
    }
  }

  @Test("a day of tokens that live for an hour takes one run for each refresh")
  func day() async throws {
    let fixture = try Fixture()
    try fixture.signIn("mail.json", expiresIn: 3600)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let kit = try kit(fixture, ["mail"], endpoint: server.address)
      let runs = try await kit.runDue(for: .seconds(86_400))
      // Every 48 minutes: 30 times a day, after the look.
      #expect(runs.count == 31, "\(runs.count)")
      let others = runs.dropFirst().filter { $0.result != .success }
      #expect(others.isEmpty, "\(others)")
    }
  }

  @Test("a server that is down is tried by the host's backoff, and again after it has given up")
  func down() async throws {
    let fixture = try Fixture()
    try fixture.signIn("mail.json", expiresIn: 60)
    let kit = try kit(fixture, ["mail"])
    let runs = try await kit.runDue(for: .seconds(86_400))
    #expect(runs.count > 20, "\(runs.count)")
    #expect(runs.dropFirst().allSatisfy { $0.result == .retry(after: nil) })
    #expect(pending("next", kit) != nil)
  }

  @Test("tokens that expire at once are refreshed every ten seconds, no more often")
  func short() async throws {
    let fixture = try Fixture()
    try fixture.signIn("mail.json", expiresIn: 60)
    try await TestServer.serving({ _ in .json(#"{"access_token": "a-token", "expires_in": 0}"#) }) { server in
      let kit = try kit(fixture, ["mail"], endpoint: server.address)
      let runs = try await kit.runDue(for: .seconds(59))
      #expect((2...7).contains(runs.count), "\(runs.count)")
    }
  }

  @Test("each token file has one request that watches it, also after the next launch; a change leads to a look and an event")
  func watches() async throws {
    let fixture = try Fixture()
    let kit = try kit(fixture, ["mail", "crm"])
    try await kit.runNext()
    try await kit.run(payload: [UInt8]())
    let watches = kit.pendingRequests.filter { $0.submitted.watch != nil }
    #expect(Set(watches.compactMap(\.submitted.watch)) == [fixture.path("mail.json"), fixture.path("crm.json")])
    #expect(watches.count == 2)
    // Everybody is signed out: the next run is the daily one.
    #expect(try #require(pending("next", kit)).due > .seconds(86_000))

    try fixture.signIn("mail.json", expiresIn: 2000)
    #expect(try kit.changed(fixture.path("mail.json")) == 1)
    let look = try #require(try await kit.runNext())
    #expect(look.result == .noop, "\(look)")
    #expect(look.events.map(\.name) == ["token-refresh.signed-in"])
    #expect(try #require(pending("next", kit)).due < .seconds(2000))

    try FileManager.default.removeItem(atPath: fixture.path("mail.json"))
    try kit.changed(fixture.path("mail.json"))
    #expect(try await kit.runNext()?.events.map(\.name) == ["token-refresh.signed-out"])
  }

  @Test("a watch of an account that is no longer configured is cancelled")
  func obsolete() async throws {
    let fixture = try Fixture()
    let kit = try kit(fixture, ["mail"])
    var stale = try TestRequest(payload: ["account": "old"])
    stale.uniqueKey = "watch/old"
    stale.onConflict = .keep
    stale.event = "file:" + fixture.path("old.json")
    stale.repetition = .event
    let id = try kit.submit(stale).id
    try await kit.runNext()
    #expect(try kit.request(id).state == .cancelled)
  }

  @Test("only servers elsewhere need the network")
  func network() async throws {
    let fixture = try Fixture()
    try fixture.signIn("mail.json", expiresIn: 60)
    let near = try kit(fixture, ["mail"], conditions: [])
    try await near.runNext()
    #expect(try await near.runNext()?.result == .retry(after: nil))
    let far = try kit(fixture, ["mail"], endpoint: "https://login.example.org/token", conditions: [])
    try await far.runNext()
    #expect(pending("next", far)?.submitted.conditions == .network)
    #expect(try await far.runNext() == nil)
  }

  @Test("without accounts there is nothing to run")
  func none() async throws {
    #expect(try await kit(Fixture(), []).runNext() == nil)
  }

  @Test("a run of one account moves the next run forward, never back")
  func oneAccount() async throws {
    let fixture = try Fixture()
    try fixture.signIn("mail.json", expiresIn: 3000)
    try fixture.signIn("crm.json", expiresIn: 2000)
    let kit = try kit(fixture, ["mail", "crm"])
    try await kit.runNext()
    let before = try #require(pending("next", kit)).due
    try await kit.run(payload: ["account": "mail"])
    #expect(pending("next", kit)?.due == before)
    try fixture.signIn("mail.json", expiresIn: 1000)
    try await kit.run(payload: ["account": "mail"])
    #expect(try #require(pending("next", kit)).due < before)
    try await kit.run(payload: ["account": "nobody"])
    #expect(try #require(pending("next", kit)).due < before)
  }
}
