import CTaskHost
import FoundationEssentials
import TaskHostSDK
import Testing

@Suite("Outcome", .timeLimit(.minutes(10)))
struct OutcomeTests {
  @Test(
    "a result becomes the host's, with its delay rounded up to milliseconds",
    arguments: [
      (TaskResult.success, TASKHOST_SUCCESS, UInt64?.none),
      (.noop, TASKHOST_NOOP, nil),
      (.snooze(), TASKHOST_SNOOZE, nil),
      (.snooze(after: .zero), TASKHOST_SNOOZE, 0),
      (.retry(), TASKHOST_RETRY, nil),
      (.retry(after: .microseconds(1001)), TASKHOST_RETRY, 2),
      (.retry(after: .seconds(-1)), TASKHOST_RETRY, 0),
      (.failure, TASKHOST_FAILURE, nil),
    ])
  func results(result: TaskResult, expected: Int, delay: UInt64?) async throws {
    let record = try await run { _ in result }
    #expect(record.result == taskhost_result(expected))
    #expect(record.retryAfter == delay)
    #expect(record.message == nil)
  }

  struct Odd: Error, CustomStringConvertible { var description: String { "the moon is full" } }

  @Test("a thrown error becomes an outcome and a message")
  func errors() async throws {
    let permanent = try await run { _ in throw TaskFailure.permanent("no such account") }
    #expect(permanent.result == taskhost_result(TASKHOST_FAILURE))
    #expect(permanent.message == "no such account")

    let temporary = try await run { _ in throw TaskFailure.temporary("503", retryAfter: .seconds(90)) }
    #expect(temporary.result == taskhost_result(TASKHOST_RETRY))
    #expect(temporary.message == "503")
    #expect(temporary.retryAfter == 90_000)

    let odd = try await run { _ in throw Odd() }
    #expect(odd.result == taskhost_result(TASKHOST_RETRY))
    #expect(odd.message == "the moon is full")
    #expect(odd.isCleared)

    let cancelled = try await run { _ in throw CancellationError() }
    #expect(cancelled.result == taskhost_result(TASKHOST_RETRY))
    #expect(cancelled.message == "the run cancelled itself: CancellationError before expiration")
  }

  @Test("an error of the host becomes a message with its sentence and status")
  func hostError() async throws {
    let record = try await run { task in
      try task.submit(TaskRequest(identifier: "com.example.other"))
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_RETRY))
    #expect(record.message == "com.example.other is not in may_submit (notPermitted, -4)")
  }

  @Test("a message of the plugin's own stays when it returns a result; a NUL byte does not cut it")
  func ownMessage() async throws {
    let record = try await run { task in
      task.setMessage("half\0done")
      return .failure
    }
    #expect(record.message == "half\u{2400}done")
  }

  private func run(_ body: @escaping ClosureTask<NoPayload>.Body) async throws -> FakeRun.Record {
    let host = FakeHost()
    #expect(ClosureTask<NoPayload>.launch(on: host, body) == TASKHOST_OK)
    return await (try host.start()).end()
  }
}
