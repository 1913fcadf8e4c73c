import TestSupport
import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Single flight") struct SingleFlightTests {
  @Test("of two instances at once, one asks the server; the other snoozes, and finds the work done")
  func twoInstances() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let (asked, release) = (Signal(), Signal())
    try await TestServer.serving({ _ in
      asked.send()
      await release.wait()
      return .json(Fixture.rotation)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      async let one = fixture.run(accounts)
      await asked.wait()
      let other = try await fixture.run(accounts)
      #expect(other.only?.result == .inProgress)
      #expect(other.outcome == .snooze(after: RefreshReport.waitForOthers))
      release.send()
      #expect(try await one.outcome == .success)
      #expect(try await fixture.run(accounts).outcome == .noop)
      #expect(server.requests.count == 1)
    }
  }

  @Test("the lock holds against another process, and goes with it")
  func twoProcesses() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let holder = try LineProgram(["/usr/bin/flock", fixture.path(".tokens.json.lock"), "/bin/sh", "-c", "echo locked; exec cat"])
    #expect(try holder.line() == "locked")

    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      #expect(try await fixture.run(accounts).only?.result == .inProgress)
      #expect(server.requests.isEmpty)
      holder.closeInput()
      let ended = try holder.end()
      #expect(ended.status == 0)
      #expect(try await fixture.run(accounts).outcome == .success)
    }
  }

  @Test("a file that changed before the lock was taken is looked at again")
  func changedMeanwhile() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let check = AccountCheck(payload: RefreshPayload(), secrets: ClientSecretReader(), host: fixture.host, redactor: Redactor())
    let settings = try fixture.refresher([fixture.account(endpoint: "http://127.0.0.1:1/")]).settings
    guard case .due(let due) = check.check(try #require(settings.accounts.first)) else {
      Issue.record("the account is not due")
      return
    }
    try fixture.signIn(expiresIn: 3000)
    let server = TokenServer()
    var refresh = AccountRefresh(server: server, check: check, redactor: Redactor())
    let report = await refresh.refresh(due, waiting: 0)
    #expect(report.result == .notDue)
    #expect(report.detail == "refreshed by another process")
  }
}
