import CTaskHost
import Synchronization
import TaskHostSDK
import TaskHostTesting
import Testing

/// Execution assertions of a run, through the real runtime on the virtual clock.
@Suite("Execution assertions of runs", .timeLimit(.minutes(10)))
struct AssertionTests {
  struct Saver: BackgroundTask {
    struct Payload: Codable {
      var steps: String
      var seconds = 30
    }

    static let identifier = "org.example.saver"
    static var kind: TaskKind { .processing }

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      let length = Duration.seconds(task.payload.seconds)
      switch task.payload.steps {
      case "save":
        let assertion = try task.beginAssertion("saver", reason: "saving", for: length)
        try await task.sleep(for: .seconds(10))
        task.setMessage("\(assertion.remaining)")
        assertion.end()
        assertion.end()
        return assertion.remaining == .zero ? .success : .failure
      case "expire":
        let calls = Mutex(0)
        let logger = task.logger
        let assertion = try task.beginAssertion("saver", for: length) {
          calls.withLock { $0 += 1 }
          logger.info("too long")
        }
        try await task.sleep(for: .seconds(60))
        assertion.end()
        task.setMessage("\(calls.withLock { $0 })")
        return .success
      case "leave":
        let assertion = try task.beginAssertion("saver")
        try await task.sleep(for: .seconds(1))
        return withExtendedLifetime(assertion) { .success }
      case "queue":
        let queue = QueueAssertion(task, "queue", for: length)
        guard queue.add(4) else { return .snooze() }
        for number in 1...4 {
          guard queue.mayContinue() else { return .snooze() }
          try await task.sleep(for: .seconds(20))
          task.progress(UInt64(number), of: 4)
          queue.finish()
        }
        return queue.count == 0 && !queue.isHeld && !queue.mayContinue() ? .success : .failure
      default:
        return .failure
      }
    }
  }

  private func run(_ steps: String, seconds: Int = 30, on host: TestHost? = nil) async throws -> RunReport {
    try await (try host ?? TestHost(Saver.self)).run(payload: Saver.Payload(steps: steps, seconds: seconds))
  }

  @Test("an assertion is reported with its times, and says what is left")
  func given() async throws {
    let run = try await run("save")
    #expect(run.result == .success && run.message == "20.0 seconds", "\(run)")
    let assertion = try #require(run.assertions.first)
    #expect(run.assertions.count == 1 && assertion.name == "saver" && assertion.reason == "saving" && assertion.length == .seconds(30))
    #expect(assertion.began == .zero && assertion.ended == .seconds(10) && assertion.ending == .given)
    #expect("\(run)".contains("assertion: saver (saving)"), "\(run)")
  }

  @Test("one that is held too long expires on the clock: its closure is called once")
  func expired() async throws {
    let run = try await run("expire", seconds: 5)
    #expect(run.result == .success && run.message == "1", "\(run)")
    #expect(run.assertions.first?.ended == .seconds(5) && run.assertions.first?.ending == .expired)
    #expect(run.log.contains { $0.message == "too long" })
  }

  @Test("one that nobody ends ends with its run")
  func left() async throws {
    let run = try await run("leave")
    #expect(run.result == .success)
    // Swift may free it before the run ends.
    #expect(run.assertions.first.map { $0.ending == .withRun || $0.ending == .given } == true)
    #expect(run.assertions.first?.ended == .seconds(1))
  }

  @Test("a queue has one assertion, and another one when it has paused")
  func queue() async throws {
    let one = try await run("queue", seconds: 100)
    #expect(one.result == .success)
    #expect(one.assertions.map(\.ending) == [.given])
    #expect(one.assertions.first?.ended == .seconds(80))
    let two = try await run("queue", seconds: 50)
    #expect(two.result == .success)
    #expect(two.assertions.map(\.ending) == [.expired, .given], "\(two)")
  }

  @Test("a queue that gets no assertion leaves its items for a later run")
  func refused() async throws {
    let host = try TestHost(Saver.self)
    host.fail(.assertion, with: taskhost_status(TASKHOST_EUNAVAILABLE))
    let run = try await run("queue", on: host)
    #expect(run.result == .snooze())
    #expect(run.assertions.isEmpty)
  }

  @Test("a drain asks a run that holds an assertion to stop once it has ended it, or the assertion has expired")
  func drain() async throws {
    let host = try TestHost(Saver.self)
    let run = try host.launch(payload: Saver.Payload(steps: "save"))
    try await host.advance(by: .seconds(3))
    host.drain()
    try await host.advance(by: .seconds(3))
    #expect(!run.report.isExpired, "it is spared while it holds the assertion")
    let report = try await run.ended()
    #expect(report.stopReason == .draining && report.expiredAfter == .seconds(10), "\(report)")
    let late = try TestHost(Saver.self)
    let other = try late.launch(payload: Saver.Payload(steps: "expire", seconds: 5))
    // Until the run sleeps: it has its assertion.
    try await late.advance(by: .seconds(1))
    late.drain()
    let ended = try await other.ended()
    #expect(ended.stopReason == .draining && ended.expiredAfter == .seconds(5), "\(ended)")
  }

  @Test("a time of zero, an empty name and a NUL byte are refused")
  func invalid() async throws {
    let run = try await run("save", seconds: 0)
    #expect(run.result == .retry() && run.message?.contains("lasts for 0.0 seconds") == true, "\(run)")
    let long = try await self.run("save", seconds: 601)
    #expect(long.result == .retry() && long.message?.contains("for_ms: 601000 is outside of 1 to 600000") == true, "\(long)")
  }
}
