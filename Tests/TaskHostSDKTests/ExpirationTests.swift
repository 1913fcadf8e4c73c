import TestSupport
import CTaskHost
import FoundationEssentials
import Synchronization
import TaskHostSDK
import Testing

@Suite("Expiration", .timeLimit(.minutes(10)))
struct ExpirationTests {
  @Test("cancels the run's task and its children; CancellationError is a retry without a message of the SDK's own")
  func cancels() async throws {
    let started = Event()
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      #expect(!task.isExpired)
      #expect(task.stopReason == .none)
      #expect(task.remaining == .seconds(30))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await task.sleep(for: .seconds(3600)) }
        group.addTask { try await Task.sleep(for: .seconds(3600)) }
        started.set()
        do {
          try await group.waitForAll()
        } catch {
          #expect(Task.isCancelled)
          #expect(task.isExpired)
          #expect(task.stopReason == .conditions)
          #expect(task.remaining == .zero)
          #expect(task.grace == .seconds(5))
          try task.setOutput(Array("late".utf8))
          throw error
        }
      }
      return .success
    }
    let run = try host.start()
    await started.wait()
    run.expire(taskhost_stop_reason(TASKHOST_STOP_CONDITIONS))
    let record = await run.end()
    #expect(record.result == taskhost_result(TASKHOST_RETRY))
    #expect(record.message == nil)
    #expect(record.output == Array("late".utf8))
    #expect(record.isCleared)
  }

  @Test("before the handler is set: the run starts cancelled, and a sleep ends at once")
  func before() async throws {
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      #expect(Task.isCancelled)
      #expect(task.stopReason == .draining)
      try await task.sleep(for: .seconds(3600))
      return .success
    }
    let record = await (try host.start(expired: taskhost_stop_reason(TASKHOST_STOP_DRAINING))).end()
    #expect(record.result == taskhost_result(TASKHOST_RETRY))
    #expect(record.isCleared)
  }

  @Test("a task that the cancellation does not reach is told by sleep")
  func unstructured() async throws {
    let started = Event()
    let cancelled = Event()
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      let work = Task.detached {
        started.set()
        await cancelled.wait()
        try await task.sleep(for: .seconds(3600))
      }
      await withTaskCancellationHandler {
        _ = await work.result
      } onCancel: {
        cancelled.set()
      }
      let result = await work.result
      #expect(throws: CancellationError.self) { try result.get() }
      return .snooze(after: .milliseconds(1500))
    }
    let run = try host.start()
    await started.wait()
    run.expire()
    let record = await run.end()
    #expect(record.result == taskhost_result(TASKHOST_SNOOZE))
    #expect(record.retryAfter == 1500)
  }

  @Test("racing with the end of the run, over many runs: the handler is always withdrawn first")
  func race() async throws {
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      await Task.yield()
      return .success
    }
    for _ in 0..<500 {
      let run = try host.start()
      run.expire()
      let record = await run.end()
      #expect(record.result == taskhost_result(TASKHOST_SUCCESS))
      #expect(record.isCleared)
    }
  }

  /// The interleaving: the host reports expiration, its thread is held up, grace ends and the run is forced, the handler returns at last,
  /// and only then the host's thread makes the call.
  @Test("a call that comes after a forced run has returned touches nothing that was freed")
  func afterForce() async throws {
    let started = Event()
    let forced = Event()
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { _ in
      started.set()
      await forced.wait()
      return .success
    }
    let run = try host.start()
    await started.wait()
    run.force()
    forced.set()
    #expect(await !run.end().isCleared)
    #expect(run.callExpirationNow())
  }
}
