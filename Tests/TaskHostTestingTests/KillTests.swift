import Synchronization
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Killed runs", .timeLimit(.minutes(10)))
struct KillTests {
  /// Copies ten items, each with a checkpoint and an entry in the state.
  final class Copier: BackgroundTask {
    static let identifier = "org.example.copier"
    static var kind: TaskKind { .processing }
    let copied = Mutex(0)

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
      let done = try task.checkpoint.value(Int.self) ?? 0
      for item in done..<10 {
        copied.withLock { $0 += 1 }
        try task.state.setValue(copied.withLock { $0 }, for: "item \(item)")
        try task.checkpoint.setValue(item + 1)
        try await task.sleep(for: .seconds(1))
      }
      return .success
    }
  }

  @Test("a run that is killed after its third checkpoint leaves it to the next attempt, in a new process")
  func afterCheckpoint() async throws {
    let host = try TestHost(Copier.self)
    let first = try await host.run(interruptions: [.kill(at: .checkpoint(3))])
    #expect(first.ending == .killed)
    #expect(first.outcome == .crashed)
    #expect(first.duration == .seconds(2))
    #expect(try host.request(first.requestID).checkpoint(as: Int.self) == 3)
    #expect(try host.request(first.requestID).due == .seconds(2 + 30))

    let second = try await host.rerun(first)
    #expect(second.result == .success)
    #expect(second.attempt == 2)
    #expect(second.started == .seconds(32))
    #expect(second.checkpoints.count == 7)
    // A new instance: it counts from one again.
    #expect(try host.state(as: Int.self, "item 2") == 3)
    #expect(try host.state(as: Int.self, "item 3") == 1)
    #expect(try host.request(first.requestID).checkpoint == nil)
  }

  @Test("a run that is killed before its third checkpoint does that item again")
  func beforeCheckpoint() async throws {
    let host = try TestHost(Copier.self)
    let first = try await host.run(interruptions: [.kill(at: .beforeCheckpoint(3))])
    #expect(first.ending == .killed)
    #expect(try host.state(as: Int.self, "item 2") == 3)
    let second = try await host.rerun(first)
    #expect(second.checkpoints.count == 8)
    #expect(try host.state(as: Int.self, "item 2") == 1)
  }

  @Test("a run is killed at every moment of its work, and the request is done in the end", arguments: 1...10)
  func everywhere(number: Int) async throws {
    let host = try TestHost(Copier.self)
    let first = try await host.run(interruptions: [.kill(at: .stateWrite(number))])
    #expect(first.ending == .killed)
    let request = try await host.runUntilDone(requestID: first.requestID)
    #expect(request.state == .succeeded)
    #expect(try host.state().count == 10)
    #expect(request.runs.map(\.checkpoints.count).reduce(0, +) == 10)
  }

  @Test("a run that sleeps is killed in its sleep")
  func asleep() async throws {
    let host = try TestHost(Copier.self)
    let run = try host.launch()
    run.kill(at: .milliseconds(1500))
    #expect(try await run.ended().duration == .milliseconds(1500))
    try await host.advance(by: .seconds(20))
    #expect(run.report.checkpoints.count == 2)
  }

  @Test("five crashes spend five attempts, and the request has failed")
  func attempts() async throws {
    let host = try TestHost(Copier.self)
    var run = try await host.run(interruptions: [.kill(at: .beforeCheckpoint(1))])
    for _ in 1...4 { run = try await host.rerun(run, interruptions: [.kill(at: .beforeCheckpoint(1))]) }
    let request = try host.request(run.requestID)
    #expect(request.state == .failed)
    #expect(request.runs.map(\.started) == [0, 30, 90, 210, 450].map { .seconds($0) })
    await #expect(throws: TestHostError.self) { try await host.rerun(run) }
  }
}
