import CTaskHost
import FoundationEssentials
import Testing

@testable import TaskHostSDK

@Suite("Prepare and execute", .timeLimit(.minutes(10)))
struct PlanTests {
  private let host = PatternHost()

  private func prepare(_ content: [String], basis: String) async throws -> Int {
    let record = try await host.run { task in
      try task.prepare(content, basis: basis, validFor: .seconds(60)) { plan in
        try TaskRequest(identifier: "org.taskhost.tests.execute", json: plan)
      }
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_SUCCESS), "\(record.message ?? "")")
    return try #require(host.change { $0.submissions.last }).disposition
  }

  private func lastPlan() throws -> Plan<[String]> {
    try JSON.decode(Plan<[String]>.self, from: Array(try #require(host.change { $0.submissions.last }).payload.utf8))
  }

  @Test("the plan travels with its request; the same basis is kept, another one or an old plan is replaced")
  func prepares() async throws {
    #expect(try await prepare(["a"], basis: "1") == TASKHOST_CREATED)
    #expect(try await prepare(["a"], basis: "1") == TASKHOST_KEPT)
    #expect(try await prepare(["a", "b"], basis: "2") == TASKHOST_REPLACED)
    host.advance(60_000)
    #expect(try await prepare(["a", "b"], basis: "2") == TASKHOST_REPLACED)
    let plan = try lastPlan()
    #expect(plan.content == ["a", "b"])
    #expect(plan.basis == "2")
    #expect(plan.validUntil == Date(unixMilliseconds: host.now + 60_000))
  }

  @Test("is carried out as often as it takes, and dropped once it is stale, with the reason")
  func executes() async throws {
    _ = try await prepare(["a", "b", "c"], basis: "1")
    let plan = try lastPlan()
    let seen = Items<String>()
    func execute(basis: String) async throws -> FakeRun.Record {
      try await host.run { task in
        try await task.execute(plan, basis: basis) { names in
          try await task.forEach(names, budget: WorkBudget(items: 2)) { name, _ in seen.add(name) }.taskResult
        }
      }
    }
    #expect(try await execute(basis: "1").result == taskhost_result(TASKHOST_SNOOZE))
    #expect(try await execute(basis: "1").result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == ["a", "b", "c"])
    let other = try await execute(basis: "2")
    #expect(other.result == taskhost_result(TASKHOST_NOOP))
    #expect(other.message == "dropped: the plan was made for 1, and now there is 2")
    host.advance(60_000)
    let late = try await execute(basis: "1")
    #expect(late.result == taskhost_result(TASKHOST_NOOP))
    #expect(late.message?.hasPrefix("dropped: the plan of 2023-11-14") == true, "\(late.message ?? "")")
    #expect(seen.take() == [])
  }

  @Test("a full disk after the request was stored: the plan is submitted once more, and nothing is lost")
  func fullDisk() async throws {
    host.change { $0.isFull = true }
    let record = try await host.run { task in
      try task.prepare([1], basis: "1") { try TaskRequest(identifier: "org.taskhost.tests.execute", json: $0) }
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_RETRY))
    host.change { $0.isFull = false }
    #expect(try await prepare(["a"], basis: "1") == TASKHOST_REPLACED)
  }
}
