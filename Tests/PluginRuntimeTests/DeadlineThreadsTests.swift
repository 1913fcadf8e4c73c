import TestSupport
import HostThreads
import LauncherConformance
import Synchronization
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Deadline threads") struct DeadlineThreadsTests {
  /// Runs, and which of them the threads looked at.
  private final class Looked: Sendable {
    private let monitor = Monitor()
    private let runs = Mutex<[LiveRun]>([])

    func add(_ run: LiveRun) {
      monitor.locked {
        runs.withLock { $0.append(run) }
        monitor.broadcast()
      }
    }

    var handles: [UInt64] { runs.withLock { $0.map(\.handle) } }

    func count(_ number: Int) async throws {
      try await onThread { [self] in
        let deadline = SystemClock.now + .seconds(60)
        try monitor.locked {
          while handles.count < number { guard monitor.wait(until: deadline) else { throw TestFailure("\(handles.count) of \(number)") } }
        }
      }
    }
  }

  private func run(slot: UInt64 = 0, counter: UInt64 = 1) throws -> LiveRun {
    let contract = HandlerContract(identifier: try TaskIdentifier("deadlines"), kind: .refresh, budget: nil, grace: .zero)
    let order = RunOrder(
      run: RunID(sequence: Int64(counter), origin: 1), request: RequestID(sequence: 1, origin: 1), contract: contract, attempt: 1,
      payload: [])
    let run = LiveRun(order: order, stallLimit: nil, services: MemoryServices()) { _ in }
    run.handle = slot << 48 | counter
    return run
  }

  @Test("deadlines come in their order, the one armed last and earliest too") func order() async throws {
    let looked = Looked()
    let threads = try DeadlineThreads { looked.add($0) }
    let begin = SystemClock.now
    for slot: UInt64 in [3, 1, 2, 0] {
      threads.arm(try run(slot: slot, counter: slot + 1), at: begin + .milliseconds(100 + 40 * Int64(slot)))
    }
    try await looked.count(4)
    #expect(looked.handles == (0..<4).map { $0 << 48 | ($0 + 1) })
    #expect(SystemClock.now >= begin + .milliseconds(220))
    threads.end()
  }

  @Test("a later time does not undo an earlier one: what the host asked for now is not lost to a budget armed after it") func earlierStays()
    async throws
  {
    let looked = Looked()
    let threads = try DeadlineThreads { looked.add($0) }
    let run = try run()
    threads.arm(run, at: SystemClock.now + .milliseconds(50))
    threads.arm(run, at: SystemClock.now + .seconds(3600))
    try await looked.count(1)
    threads.end()
  }

  @Test("a run that is over is not armed again, nor does it take the slot of the run after it") func lateArm() async throws {
    let looked = Looked()
    let threads = try DeadlineThreads { looked.add($0) }
    let (old, new) = (try run(counter: 7), try run(counter: 8))
    threads.arm(old, at: SystemClock.now + .seconds(3600))
    threads.disarm(old)
    threads.arm(old, at: SystemClock.now)
    threads.arm(new, at: SystemClock.now + .milliseconds(100))
    threads.arm(old, at: SystemClock.now)
    threads.disarm(old)
    try await looked.count(1)
    #expect(looked.handles == [8])
    threads.end()
  }

  @Test("work that never returns holds nothing back") func stuck() async throws {
    let looked = Looked()
    let gate = Monitor()
    gate.lock()
    let threads = try DeadlineThreads { run in
      looked.add(run)
      if run.handle >> 48 < 20 { gate.locked {} }
    }
    for slot in 0..<UInt64(21) { threads.arm(try run(slot: slot, counter: slot + 1), at: SystemClock.now + .milliseconds(20)) }
    try await looked.count(21)
    await Task.yield()
    threads.end()
    gate.unlock()
  }

  @Test("many short runs after one long one leave the heap small, and deadlines right") func compaction() async throws {
    let looked = Looked()
    let threads = try DeadlineThreads { looked.add($0) }
    for counter in 1...UInt64(2000) {
      let short = try run(counter: counter)
      threads.arm(short, at: SystemClock.now + .seconds(3600 + Int64(2000 - counter)))
      threads.disarm(short)
    }
    threads.arm(try run(counter: 5000), at: SystemClock.now + .milliseconds(10))
    threads.arm(try run(slot: 1, counter: 5001), at: SystemClock.now)
    try await looked.count(2)
    #expect(looked.handles.sorted() == [5000, 1 << 48 | 5001] as [UInt64])
    threads.end()
  }
}
