import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Outcome") struct RefreshReportTests {
  @Test(
    "the most urgent account decides",
    arguments: [
      ([.refreshed, .notDue], .success), ([.notDue], .noop), ([], .noop), ([.notDue, .signedOut], .noop),
      ([.refreshed, .signedOut], .success),
      ([.signedOut, .signedOut], .failure), ([.refreshed, .failed], .failure),
      ([.inProgress, .failed], .snooze(after: RefreshReport.waitForOthers)),
      ([.due, .notDue], .noop), ([.refreshed, .skipped, .inProgress], .snooze(after: nil)),
      ([.retry, .skipped, .failed, .refreshed], .retry(after: nil)),
    ] as [([AccountReport.Result], TaskResult)])
  func outcome(_ results: [AccountReport.Result], _ expected: TaskResult) {
    #expect(RefreshReport(accounts: results.map { AccountReport(name: "a", result: $0) }).outcome == expected)
  }

  @Test("a retry waits for the first server that gave a time, or for the host's backoff when one gave none")
  func waits() {
    let waits = [20, 10].map { AccountReport(name: "a", result: .retry, retryAfter: .seconds($0)) }
    #expect(RefreshReport(accounts: waits).outcome == .retry(after: .seconds(10)))
    #expect(RefreshReport(accounts: waits + [AccountReport(name: "b", result: .retry)]).outcome == .retry(after: nil))
  }

  @Test("the output is JSON with a member for each account, and loses its sentences rather than its size")
  func output() throws {
    let accounts = [
      AccountReport(
        name: "a", result: .refreshed, expiresAt: Date(timeIntervalSince1970: 3600), refreshAt: Date(timeIntervalSince1970: 1800)),
      AccountReport(name: "b", result: .signedOut, refreshAt: .distantPast, error: "invalid_grant", detail: "why"),
      AccountReport(name: "c", result: .retry, retryAfter: .milliseconds(1500)),
    ]
    let report = RefreshReport(accounts: accounts)
    #expect(
      String(decoding: try report.output(limit: 65_536), as: UTF8.self)
        == #"{"accounts":[{"expires_at":"1970-01-01T01:00:00Z","name":"a","refresh_at":"1970-01-01T00:30:00Z","result":"refreshed"},"#
        + #"{"detail":"why","error":"invalid_grant","name":"b","result":"signed_out"},{"name":"c","result":"retry","retry_after_s":2}]}"#)
    #expect(!String(decoding: try report.output(limit: 10), as: UTF8.self).contains("why"))
  }
}
