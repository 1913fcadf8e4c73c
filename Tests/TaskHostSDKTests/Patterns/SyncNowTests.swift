import CTaskHost
import FoundationEssentials
import Testing

@testable import TaskHostSDK

@Suite("Sync now", .timeLimit(.minutes(10)))
struct SyncNowTests {
  @Test("submits at once; what waits for later is replaced, what is due is kept")
  func coalesces() async throws {
    let host = PatternHost()
    let record = try await host.run { task in
      let request = TaskRequest(identifier: "org.taskhost.tests.closure", earliestBegin: task.now.addingTimeInterval(60))
      #expect(try task.syncNow(request).disposition == .created)
      #expect(try task.syncNow(request).disposition == .kept)
      var later = request
      later.uniqueKey = "other"
      later.onConflict = .replace
      try task.submit(later)
      let submission = try task.syncNow(later)
      #expect(submission.disposition == .replaced)
      #expect(submission.nextStart == task.now)
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_SUCCESS), "\(record.message ?? "")")
    #expect(host.change { $0.holders.keys.sorted() } == ["other", "sync"])
  }
}
