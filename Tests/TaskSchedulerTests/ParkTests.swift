import HostThreads
import MemoryStore
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

/// Submissions for a fleet that wait in the host's own store.
@Suite("Parked submissions", .timeLimit(.minutes(1)))
struct ParkTests {
  private final class Keeper: Sendable {
    let scheduler: Scheduler
    let launcher = RecordingLauncher(ending: nil)
    let fleet: UInt64 = 2

    init() throws {
      scheduler = try Scheduler(policy: SchedulingPolicy(), store: MemoryRequestStore(origin: 1), clock: SystemClock(), fleet: fleet)
      launcher.report { [weak scheduler] in scheduler?.receive($0) }
      _ = try scheduler.start(launcher, contracts: [.sample()], schedules: [:])
    }

    deinit { scheduler.stop() }

    func perform<Value: Sendable>(_ change: SchedulerChange<Value>) async throws -> Value {
      try await withCheckedThrowingContinuation { done in scheduler.perform(change) { done.resume(with: $0) } }
    }

    func parked(_ limit: Int = 10, after last: RequestID? = nil) async throws -> [ParkedSubmission] {
      try await perform(.parked(fleet: fleet, after: last, limit: limit))
    }
  }

  private func request(_ change: (inout TaskRequest) -> Void = { _ in }) throws -> TaskRequest {
    var request = TaskRequest(identifier: .sample())
    change(&request)
    return request
  }

  @Test("it goes to the fleet under one idempotency key, however often it is sent, and keeps its due time and its payload")
  func sending() async throws {
    let keeper = try Keeper()
    let submissions = try await keeper.perform(
      .park([
        request { $0.payload = Array("1".utf8) },
        request { ($0.idempotencyKey, $0.payload) = ("mine", Array("2".utf8)) },
      ]))
    #expect(submissions.map(\.isParked) == [true, true] && submissions.map(\.disposition) == [.created, .created])
    let first = try await keeper.parked()
    let again = try await keeper.parked()
    #expect(first.map(\.id) == submissions.map(\.id))
    let keys = first.map(\.submission.record.request.idempotencyKey)
    #expect(keys == ["parked:\(submissions[0].id)", "mine"] && again.map(\.submission.record.request.idempotencyKey) == keys)
    #expect(again.map(\.submission.fingerprint) == first.map(\.submission.fingerprint))
    #expect(first.map(\.submission.record.request.payload) == [Array("1".utf8), Array("2".utf8)])
    #expect(first.allSatisfy { $0.submission.record.paused == nil && $0.submission.record.id.origin == keeper.fleet })
    #expect(first.map(\.submission.record.due) == submissions.map(\.nextStart))
    #expect(try await keeper.parked(1).count == 1)
    #expect(try await keeper.parked(after: first[0].id).map(\.id) == [first[1].id])
    let new = RequestID(sequence: 9, origin: keeper.fleet)
    #expect(try await keeper.perform(.unpark(first[0].id, as: new)))
    #expect(try await !keeper.perform(.unpark(first[0].id, as: new)), "once")
    #expect(try await keeper.perform(.parkedCount) == 1)
    _ = try await keeper.perform(.cancel(first[1].id))
    #expect(try await !keeper.perform(.unpark(first[1].id, as: new)), "it was cancelled meanwhile")
    #expect(keeper.scheduler.liveRunCount == 0, "nothing runs here")
  }

  @Test("nobody resumes it, and what the fleet refuses is a dead letter")
  func ends() async throws {
    let keeper = try Keeper()
    let id = try await keeper.perform(.park([request()]))[0].id
    await #expect(throws: RequestRefusal.self) { try await keeper.perform(.resume(id)) }
    #expect(try await keeper.perform(.pause(id, RequestPause(by: "user 0", since: .distantPast))).paused?.isParked == true)
    try await keeper.perform(.refuseParked(id, because: RequestRefusal(.conflict, "no")))
    #expect(try await keeper.parked().isEmpty)
    let letter = try await keeper.perform(.discard(id))
    #expect(letter.lastMessage?.contains("the fleet refused it: no") == true, "\(letter)")
  }

  @Test("what depends on requests of the fleet is refused")
  func refusals() async throws {
    let keeper = try Keeper()
    let wrong = [
      try request { $0.after = [Dependency(.request(RequestID(sequence: 1, origin: 2)))] },
      try request { ($0.uniqueKey, $0.onConflict) = ("k", .replace) },
      try request { ($0.uniqueKey, $0.onConflict, $0.uniqueWindow) = ("k", .keep, .seconds(60)) },
      try request { $0.jitter = .seconds(1) },
    ]
    for request in wrong {
      await #expect(throws: RequestRefusal.self) { try await keeper.perform(.park([request])) }
    }
    #expect(try await keeper.perform(.parkedCount) == 0)
    let keyed = try request { ($0.uniqueKey, $0.onConflict) = ("k", .keep) }
    let both = try await keeper.perform(.park([keyed, keyed]))
    #expect(both.map(\.disposition) == [.created, .kept] && both.map(\.isParked) == [true, true] && both[0].id == both[1].id)
  }
}
