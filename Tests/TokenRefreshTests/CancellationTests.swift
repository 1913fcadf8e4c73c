import Foundation
import StrictText
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Expiration") struct CancellationTests {
  @Test("a request in flight may finish within grace: its answer is stored, and no other account is begun")
  func inFlight() async throws {
    let fixture = try Fixture(host: TestHost(grace: .seconds(60)))
    for name in ["a", "b"] { try fixture.signIn(name + ".json") }
    let (asked, release) = (Signal(), Signal())
    try await TestServer.serving({ _ in
      asked.send()
      await release.wait()
      return .json(Fixture.rotation)
    }) { server in
      let accounts = ["a", "b"].map { fixture.account($0, endpoint: server.address) }
      let run = Task { try await fixture.run(accounts) }
      await asked.wait()
      run.cancel()
      release.send()
      let report = try await run.value
      #expect(report.accounts.map(\.result) == [.refreshed, .skipped])
      #expect(report.outcome == .snooze(after: nil))
      #expect(fixture.host.progress.last == [1, 2])
      #expect(server.requests.count == 1)
    }
    #expect(try fixture.members("a.json")["refresh_token"] == .string(Fixture.newRefreshToken))
    #expect(try fixture.members("b.json")["refresh_token"] == .string(Fixture.refreshToken))
  }

  @Test("a server that outlasts the grace is given up, and the account tried again")
  func outlasted() async throws {
    // A second of the grace is kept to store an answer: nothing is left for this server.
    let fixture = try Fixture(host: TestHost(grace: .seconds(1)))
    try fixture.signIn()
    let (asked, release) = (Signal(), Signal())
    try await TestServer.serving({ _ in
      asked.send()
      await release.wait()
      return .json(Fixture.rotation)
    }) { server in
      let run = Task { try await fixture.run([fixture.account(endpoint: server.address, ["timeout": "10m"])]) }
      await asked.wait()
      run.cancel()
      let report = try await run.value
      #expect(report.outcome == .retry(after: nil))
      #expect(report.message.contains("before the run had to end"))
      release.send()
    }
    #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
  }

  @Test("discovery in flight is simply stopped, and the account left for the next run")
  func discovery() async throws {
    let fixture = try Fixture(host: TestHost(grace: .seconds(60)))
    try fixture.signIn()
    let (asked, release) = (Signal(), Signal())
    try await TestServer.serving({ _ in
      asked.send()
      await release.wait()
      return .json("{}")
    }) { server in
      let account = fixture.account(endpoint: "", ["issuer": server.address, "timeout": "10m"])
      let run = Task { try await fixture.run([account]) }
      await asked.wait()
      run.cancel()
      let report = try await run.value
      #expect(report.only?.result == .skipped)
      release.send()
    }
    #expect(fixture.host.records.isEmpty)
  }

  @Test("a run cancelled before it begins asks nobody")
  func before() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let begin = Signal()
      let run = Task {
        await begin.wait()
        return try await fixture.run([fixture.account(endpoint: server.address)])
      }
      run.cancel()
      begin.send()
      let report = try await run.value
      #expect(report.outcome == .snooze(after: nil))
      #expect(server.requests.isEmpty)
    }
  }
}
