import CTaskHost
import FoundationEssentials
import Synchronization
import TaskHostSDK
import Testing

@Suite("Exchange with the host", .timeLimit(.minutes(10)))
struct ExchangeTests {
  struct Cursor: Codable, Equatable {
    var page: Int
    var at: Date
  }

  @Test("output: bytes, JSON, empty; the last one wins, and one that is too big is refused with the host's sentence")
  func output() async throws {
    let record = try await run { task in
      let bytes: [UInt8] = [1, 2]
      try task.setOutput(bytes)
      try task.setOutput([])
      try task.setOutput(["b": 2, "a": 1])
      let tooBig = [UInt8](repeating: 0, count: 65_537)
      #expect(throws: TaskHostError(status: -7, message: "an output of 65537 bytes; the limit is 65536")) { try task.setOutput(tooBig) }
    }
    #expect(record.output == Array(#"{"a":1,"b":2}"#.utf8))
  }

  @Test("an empty output is set, not cleared")
  func emptyOutput() async throws {
    let record = try await run { task in try task.setOutput([]) }
    #expect(record.output == [])
  }

  @Test("state: bytes and JSON come back, empty is a value, a missing key is nil, removing is repeatable")
  func state() async throws {
    let host = FakeHost()
    _ = try await run(on: host) { task in
      let state = task.state
      #expect(try state.get("none") == nil)
      #expect(try state.value(Cursor.self, for: "none") == nil)
      try state.set("empty", [])
      #expect(try state.get("empty") == [])
      let cursor = Cursor(page: 3, at: Date(timeIntervalSince1970: 1_700_000_000.125))
      try state.setValue(cursor, for: "cursor")
      #expect(try state.value(Cursor.self, for: "cursor") == cursor)
      try state.remove("empty")
      try state.remove("empty")
      #expect(try state.get("empty") == nil)
    }
    #expect(host.state["cursor"] == Array(#"{"at":"2023-11-14T22:13:20.125Z","page":3}"#.utf8))
    #expect(host.state.count == 1)
  }

  @Test("state: a value of any size is read whole", arguments: [1, 1023, 1024, 1025, 300_000])
  func sizes(size: Int) async throws {
    _ = try await run { task in
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      try task.state.set("big", bytes)
      #expect(try task.state.get("big") == bytes)
      try task.checkpoint.save(bytes)
      #expect(try task.checkpoint.load() == bytes)
    }
  }

  @Test("a NUL byte in a key, an identifier or a request id is refused instead of cutting it")
  func embeddedNUL() async throws {
    let host = FakeHost()
    _ = try await run(on: host) { task in
      #expect(throws: TaskHostError.self) { try task.state.set("a\0b", [1]) }
      #expect(throws: TaskHostError.self) { try task.submit(TaskRequest(identifier: "org.taskhost.tests\0")) }
      #expect(throws: TaskHostError.self) { try task.submit(TaskRequest(identifier: "org.taskhost.tests", uniqueKey: "\0")) }
      let error = #expect(throws: TaskHostError.self) { try task.cancel(requestID: "1\0") }
      #expect(error == TaskHostError(status: -1, message: "the request id holds a NUL byte; remove it"))
    }
    #expect(host.state.isEmpty)
    #expect(host.requests.isEmpty)
  }

  @Test("checkpoint: nothing at first, then what was saved")
  func checkpoint() async throws {
    let record = try await run { task in
      #expect(try task.checkpoint.load() == nil)
      #expect(try task.checkpoint.value([Int].self) == nil)
      try task.checkpoint.setValue([1, 2])
      #expect(try task.checkpoint.value([Int].self) == [1, 2])
      #expect(throws: DecodingError.self) { try task.checkpoint.value(String.self) }
    }
    #expect(record.checkpoint == Array("[1,2]".utf8))
  }

  @Test("submit hands over every field and answers what became of it; cancel names the request")
  func submit() async throws {
    let host = FakeHost()
    let record = try await run(on: host) { task in
      let begin = task.now.addingTimeInterval(0.1)
      let submission = try task.submit(
        TaskRequest(
          identifier: "org.taskhost.tests.next", payload: [0x7B, 0x7D], earliestBegin: begin, uniqueKey: "k", onConflict: .replace,
          conditions: [.network, .power]))
      #expect(submission.requestID == "0123-new")
      #expect(submission.disposition == .replaced)
      #expect(submission.nextStart == Date(timeIntervalSince1970: 1_700_000_001))
      try task.submit(TaskRequest(identifier: "org.taskhost.tests.next", earliestBegin: .distantPast))
      try task.cancel(requestID: submission.requestID)
      let error = #expect(throws: TaskHostError.self) { try task.cancel(requestID: "missing") }
      #expect(error?.code == .notFound)
    }
    let request = try #require(host.requests.first)
    #expect(request.payload == "{}")
    #expect(request.earliestBegin == 1_700_000_000_350)
    #expect(request.uniqueKey == "k")
    #expect(request.onConflict == TASKHOST_CONFLICT_REPLACE)
    #expect(request.conditions == TASKHOST_REQUIRES_NETWORK | TASKHOST_REQUIRES_POWER)
    let second = try #require(host.requests.last)
    #expect(second.earliestBegin == 1)
    #expect(second.uniqueKey == nil)
    #expect(record.cancelled == ["0123-new"])
  }

  @Test("a context kept after its run is told so, and keeps what it was given")
  func keptContext() async throws {
    let kept = Mutex<TaskContext<NoPayload>?>(nil)
    _ = try await run { task in kept.withLock { $0 = task } }
    let task = try #require(kept.withLock { $0 })
    #expect(task.identifier == "org.taskhost.tests.closure")
    #expect(task.isExpired)
    #expect(task.remaining == .zero)
    #expect(task.grace == .zero)
    #expect(task.stopReason == .none)
    task.progress(1, of: 2)
    task.setMessage("late")
    task.logger.info("late")
    await #expect(throws: CancellationError.self) { try await task.sleep(for: .seconds(3600)) }
    let error = #expect(throws: TaskHostError.self) { try task.checkpoint.load() }
    #expect(error?.code == .stale)
  }

  @Test("progress and log lines reach the run's record; metadata is appended in order of its keys")
  func log() async throws {
    let record = try await run { task in
      task.progress(3, of: 10)
      var logger = task.logger
      logger[metadataKey: "file"] = "a b.txt"
      logger.info("copied", metadata: ["bytes": "12", "again": "say \"hi\""])
      logger.critical("gone")
      task.logger.trace("plain")
    }
    #expect(record.progress == [[3, 10]])
    #expect(
      record.log == [
        FakeLogLine(level: TASKHOST_INFO, text: #"copied again="say \"hi\"" bytes=12 file="a b.txt""#),
        FakeLogLine(level: TASKHOST_ERROR, text: #"gone file="a b.txt""#),
        FakeLogLine(level: TASKHOST_TRACE, text: "plain"),
      ])
  }

  private func run(on host: FakeHost = FakeHost(), _ body: @escaping @Sendable (TaskContext<NoPayload>) async throws -> Void) async throws
    -> FakeRun.Record
  {
    let status = ClosureTask<NoPayload>.launch(on: host) { task in
      try await body(task)
      return .success
    }
    #expect(status == TASKHOST_OK)
    let record = await (try host.start()).end()
    #expect(record.result == taskhost_result(TASKHOST_SUCCESS), "\(record.message ?? "")")
    return record
  }
}
