import TestSupport
import CTaskHost
import FoundationEssentials
import Glibc
import Synchronization
import TaskHostSDK
import Testing

@Suite("Run thread", .timeLimit(.minutes(10)))
struct RunThreadTests {
  @Test("run starts on the run's thread and comes back to it after a sleep, a yield, an event and an actor")
  func staysOnThread() async throws {
    let seen = Seen()
    let event = Event()
    let meter = Meter()
    let host = FakeHost()
    let status = ClosureTask<NoPayload>.launch(on: host) { task in
      seen.note()
      try await Task.sleep(for: .milliseconds(5))
      seen.note()
      try await task.sleep(for: .milliseconds(5))
      seen.note()
      await Task.yield()
      seen.note()
      await event.wait()
      seen.note()
      await meter.increment(seen)
      seen.note()
      return .success
    }
    #expect(status == TASKHOST_OK)
    let run = try host.start()
    event.set()
    let record = await run.end()
    #expect(record.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.threads == Array(repeating: record.thread, count: 7))
  }

  @Test("structured children, async let and nested groups stay on the run's thread")
  func children() async throws {
    let seen = Seen()
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { _ in
      async let early: Void = seen.noteAfterSleeping(3)
      await withTaskGroup(of: Void.self) { group in
        for milliseconds in 1...10 {
          group.addTask {
            await seen.noteAfterSleeping(milliseconds)
            await withTaskGroup(of: Void.self) { $0.addTask { await seen.noteAfterSleeping(1) } }
          }
        }
      }
      await early
      return .success
    }
    let record = await (try host.start()).end()
    #expect(seen.threads == Array(repeating: record.thread, count: 21))
  }

  @Test("concurrent runs each have their thread")
  func twoRuns() async throws {
    let first = Event()
    let second = Event()
    let threads = Mutex<[String: [UInt]]>([:])
    let host = FakeHost()
    _ = ClosureTask<[String: String]>.launch(on: host) { task in
      let name = task.payload["name"] ?? ""
      threads.withLock { $0[name, default: []].append(UInt(pthread_self())) }
      // Each waits for the other: both must be live at once.
      (name == "a" ? first : second).set()
      await (name == "a" ? second : first).wait()
      threads.withLock { $0[name, default: []].append(UInt(pthread_self())) }
      try task.setOutput(["ran": name])
      return name == "a" ? .success : .noop
    }
    let a = try host.start(payload: #"{"name":"a"}"#)
    let b = try host.start(payload: #"{"name":"b"}"#)
    let (recordA, recordB) = await (a.end(), b.end())
    #expect(recordA.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(recordB.result == taskhost_result(TASKHOST_NOOP))
    #expect(recordA.output == Array(#"{"ran":"a"}"#.utf8))
    #expect(recordB.output == Array(#"{"ran":"b"}"#.utf8))
    #expect(threads.withLock { $0 } == ["a": [recordA.thread, recordA.thread], "b": [recordB.thread, recordB.thread]])
  }

  @Test("an actor shared by many concurrent runs loses no step and no run")
  func sharedActor() async throws {
    let counter = Counter()
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      for _ in 0..<100 { await counter.add() }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10 { group.addTask { await counter.add() } }
      }
      return .success
    }
    let runs = try (0..<50).map { _ in try host.start() }
    for run in runs { #expect(await run.end().result == taskhost_result(TASKHOST_SUCCESS)) }
    #expect(await counter.total == 5500)
  }

  @Test("an unstructured task that outlives its run goes on elsewhere, and its context is stale")
  func outlivesRun() async throws {
    let runEnded = Event()
    let leftover = Mutex<Task<TaskHostError.Code?, Never>?>(nil)
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      let work = Task {
        await runEnded.wait()
        do {
          try task.setOutput([1])
          return TaskHostError.Code?.none
        } catch {
          return (error as? TaskHostError)?.code
        }
      }
      leftover.withLock { $0 = work }
      return .success
    }
    _ = await (try host.start()).end()
    runEnded.set()
    let work = try #require(leftover.withLock { $0 })
    #expect(await work.value == .stale)
  }

  actor Counter {
    var total = 0
    func add() { total += 1 }
  }

  actor Meter {
    func increment(_ seen: Seen) { seen.note() }
  }

  final class Seen: Sendable {
    private let state = Mutex<[UInt]>([])
    var threads: [UInt] { state.withLock { $0 } }
    func note() { state.withLock { $0.append(UInt(pthread_self())) } }
    func noteAfterSleeping(_ milliseconds: Int) async {
      try? await Task.sleep(for: .milliseconds(milliseconds))
      note()
    }
  }
}
