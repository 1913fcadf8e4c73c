import CTaskHost
import Testing

@testable import TaskHostSDK

@Suite("Coalesced triggers", .timeLimit(.minutes(10)))
struct CoalescedTriggersTests {
  private let host = PatternHost()
  private let key = "taskhost.triggers.notes"
  private let start: Int64 = 1_700_000_000_000

  private static func triggers(_ task: TaskContext<NoPayload>) -> CoalescedTriggers {
    task.triggers(
      "notes", window: CoalescingWindow(debounce: .seconds(2), maximumDelay: .seconds(10)),
      drainedBy: TaskRequest(identifier: "org.taskhost.tests.closure", payload: Array("drain".utf8)))
  }

  private func add(_ keys: String...) async throws {
    let record = try await host.run { task in
      try Self.triggers(task).add(keys)
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_SUCCESS), "\(record.message ?? "")")
  }

  private var submissions: [PatternHost.Submitted] { host.change { $0.submissions } }

  @Test("many triggers make one request, due a quiet time after the last and at latest a maximum delay after the first")
  func coalesces() async throws {
    try await add("a")
    #expect(submissions == [.init(key: key, due: start + 2_000, disposition: TASKHOST_CREATED, payload: "drain")])
    host.advance(1_500)
    try await add("b")
    #expect(submissions.last?.due == start + 3_500)
    #expect(submissions.last?.disposition == TASKHOST_REPLACED)
    host.advance(7_500)
    try await add("a")
    #expect(submissions.last?.due == start + 10_000)
    // Overdue: what is about to start is left alone.
    host.advance(2_000)
    try await add("c")
    #expect(submissions.last?.disposition == TASKHOST_KEPT)
    let seen = Items<CoalescedChange>()
    let drained = try await host.run { task in try await Self.triggers(task).drain { change, _ in seen.add(change) } }
    #expect(drained.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == [.key("a"), .key("b"), .key("c")])
    #expect(host.host.state.isEmpty)
    let idle = try await host.run { task in try await Self.triggers(task).drain { change, _ in seen.add(change) } }
    #expect(idle.result == taskhost_result(TASKHOST_NOOP))
  }

  @Test("a trigger that comes while its key is being done is kept, does not disturb the drain, and is done again")
  func duringDrain() async throws {
    try await add("a", "b")
    let seen = Items<CoalescedChange>()
    let first = try await host.run { task in
      try await Self.triggers(task).drain { change, _ in
        seen.add(change)
        if change == .key("b") { try Self.triggers(task).add("a") }
      }
    }
    #expect(first.result == taskhost_result(TASKHOST_SNOOZE))
    #expect(first.retryAfter == 2_000)
    #expect(submissions.last?.disposition == TASKHOST_KEPT)
    let second = try await host.run { task in try await Self.triggers(task).drain { change, _ in seen.add(change) } }
    #expect(second.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == [.key("a"), .key("b"), .key("a")])
  }

  @Test("a drain that stops early leaves the rest, keeps its request against new triggers, and the next run goes on")
  func budget() async throws {
    try await add("a", "b", "c")
    let seen = Items<CoalescedChange>()
    let body: ClosureTask<NoPayload>.Body = { task in
      try await Self.triggers(task).drain(budget: WorkBudget(items: 2)) { change, _ in seen.add(change) }
    }
    #expect(try await host.run(body).result == taskhost_result(TASKHOST_SNOOZE))
    try await add("d")
    #expect(submissions.last?.disposition == TASKHOST_KEPT)
    #expect(try await host.run(body).result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == [.key("a"), .key("b"), .key("c"), .key("d")])
    #expect(host.host.state.isEmpty)
  }

  @Test("expiration in the middle: what is done has left the set; a run that did nothing is a retry")
  func expiry() async throws {
    try await add("a", "b", "c")
    let seen = Items<CoalescedChange>()
    func body(expiringAt key: String) -> ClosureTask<NoPayload>.Body {
      { task in
        try await Self.triggers(task).drain { change, _ in
          seen.add(change)
          guard change == .key(key) else { return }
          task.fake?.expire()
          try await task.sleep(for: .seconds(3600))
        }
      }
    }
    #expect(try await host.run(body(expiringAt: "b")).result == taskhost_result(TASKHOST_SNOOZE))
    #expect(try await host.run(body(expiringAt: "b")).result == taskhost_result(TASKHOST_RETRY))
    #expect(try await host.run(body(expiringAt: "none")).result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == [.key("a"), .key("b"), .key("b"), .key("b"), .key("c")])
  }

  @Test("a crash before the checkpoint does the changes again and loses none")
  func crash() async throws {
    try await add("a", "b", "c")
    let seen = Items<CoalescedChange>()
    let crashed = try await host.run { task in
      try await Self.triggers(task).drain(checkpoint: CheckpointInterval(items: 1)) { change, _ in
        if change == .key("b") { task.fake?.force() }
      }
    }
    #expect(crashed.result == taskhost_result(TASKHOST_RETRY))
    _ = try await host.run { task in try await Self.triggers(task).drain { change, _ in seen.add(change) } }
    #expect(seen.take() == [.key("b"), .key("c")])
  }

  @Test("an error of the body is passed on; what was done before it has left the set, what failed has not")
  func failure() async throws {
    try await add("a", "b", "c")
    let failed = try await host.run { task in
      try await Self.triggers(task).drain { change, _ in
        if change == .key("b") { throw TaskFailure.permanent("refused") }
      }
    }
    #expect(failed.result == taskhost_result(TASKHOST_FAILURE))
    #expect(failed.message == "refused")
    let rest = try await host.run { task in
      let pending = try Self.triggers(task).pending
      #expect(pending == [.key("b"), .key("c")])
      return .success
    }
    #expect(rest.result == taskhost_result(TASKHOST_SUCCESS))
  }

  @Test("a full disk refuses the trigger, so its run can be retried, and submits nothing")
  func fullDisk() async throws {
    host.change { $0.isFull = true }
    let record = try await host.run { task in
      try Self.triggers(task).add("a")
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_RETRY))
    #expect(record.message?.contains("unavailable") == true)
    #expect(submissions.isEmpty)
    host.change { $0.isFull = false }
    try await add("a")
    #expect(submissions.count == 1)
  }

  @Test("more keys than can be kept, by number or by bytes, become one change: everything")
  func overflow() async throws {
    let body: @Sendable (Int, Int) -> ClosureTask<NoPayload>.Body = { count, width in
      { task in
        let triggers = Self.triggers(task)
        try triggers.add((0..<count).map { "\($0)-" + String(repeating: "x", count: width) })
        #expect(try triggers.pending == [.everything])
        try triggers.add("one more")
        #expect(try triggers.pending == [.everything])
        return try await triggers.drainAll { changes in
          #expect(changes == [.everything])
          return .success
        }
      }
    }
    #expect(try await host.run(body(10_001, 1)).result == taskhost_result(TASKHOST_SUCCESS))
    #expect(try await host.run(body(6_000, 200)).result == taskhost_result(TASKHOST_SUCCESS))
    #expect(host.host.state.isEmpty)
  }

  @Test("all at once: the changes leave the set when the step succeeded, and only then")
  func drainAll() async throws {
    try await add("a", "b")
    let failed = try await host.run { task in try await Self.triggers(task).drainAll { _ in .retry(after: .seconds(7)) } }
    #expect(failed.retryAfter == 7_000)
    let again = try await host.run { task in
      try await Self.triggers(task).drainAll { changes in
        #expect(changes == [.key("a"), .key("b")])
        try Self.triggers(task).add("b")
        return .success
      }
    }
    #expect(again.result == taskhost_result(TASKHOST_SNOOZE))
    let last = try await host.run { task in
      try await Self.triggers(task).drainAll { changes in
        #expect(changes == [.key("b")])
        return .success
      }
    }
    #expect(last.result == taskhost_result(TASKHOST_SUCCESS))
  }

  @Test("sync now brings what waits forward, and leaves alone what is due")
  func syncNow() async throws {
    try await add("a")
    _ = try await host.run { task in
      let submission = try Self.triggers(task).syncNow()
      #expect(submission.disposition == .replaced)
      #expect(submission.nextStart == task.now)
      #expect(try Self.triggers(task).syncNow().disposition == .kept)
      return .success
    }
    #expect(host.host.state.count == 1)
  }

  @Test("keys of other bytes are other keys, however alike they look") func spellings() async throws {
    let keys = ["caf\u{E9}.txt", "cafe\u{301}.txt"]
    try await add(keys[0])
    try await add(keys[1])
    let seen = Items<[UInt8]>()
    _ = try await host.run { task in
      try await Self.triggers(task).drain { change, _ in
        if case .key(let key) = change { seen.add(Array(key.utf8)) }
      }
    }
    #expect(seen.take() == keys.map { Array($0.utf8) })
  }

  @Test("a set that an earlier build has stored is read") func earlierForm() throws {
    let set = try JSON.decode(CoalescedSet.self, from: Array(#"{"isDraining":false,"keys":{"a":1,"b":3},"last":3,"since":7}"#.utf8))
    #expect(set.changes.map(\.change) == [.key("a"), .key("b")] && set.last == 3 && set.since == 7)
    #expect(try JSON.decode(CoalescedSet.self, from: JSON.encode(set)) == set)
  }

  @Test("an empty or overlong key is refused with its length")
  func badKeys() async throws {
    let record = try await host.run { task in
      try Self.triggers(task).add(String(repeating: "é", count: 129))
      return .success
    }
    #expect(record.message == "a trigger's key has 258 bytes; give 1 to 256 (invalid, -1)")
  }

  @Test("two runs that add at once lose no key")
  func concurrent() async throws {
    let host = host
    host.change { $0.isReadSlow = true }
    _ = try await host.run { task in
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<64 {
          group.addTask(executorPreference: globalConcurrentExecutor) { _ = try? Self.triggers(task).add("k\(number)") }
        }
      }
      let pending = try Self.triggers(task).pending
      #expect(pending.count == 64)
      return .success
    }
  }
}
