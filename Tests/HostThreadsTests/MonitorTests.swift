import HostThreads
import TaskModel
import Testing

@Suite("Monitor") struct MonitorTests {
  @Test("a wait ends at its deadline, not before", arguments: [0, 1, 30]) func deadline(milliseconds: Int64) {
    let monitor = Monitor()
    let deadline = SystemClock.now + .milliseconds(milliseconds)
    monitor.locked { while monitor.wait(until: deadline) {} }
    #expect(SystemClock.now >= deadline)
  }

  @Test("a deadline that has passed, even before the clock began, ends a wait at once", arguments: [0, -1, Int64.min])
  func past(nanoseconds: Int64) {
    let monitor = Monitor()
    #expect(!monitor.locked { monitor.wait(until: MonotonicTime(nanoseconds: nanoseconds)) })
  }

  @Test("a signal wakes who waits without a deadline") func signal() async throws {
    let turns = Turns()
    try HostThread.start("pong") { turns.take(odd: true, 1000) }
    await withCheckedContinuation { continuation in
      do {
        try HostThread.start("ping") {
          turns.take(odd: false, 1000)
          continuation.resume()
        }
      } catch {
        Issue.record(error)
        continuation.resume()
      }
    }
    #expect(turns.taken >= 1999)
  }

  /// Two threads that take turns.
  private final class Turns: @unchecked Sendable {  // reason: touched with `monitor` held
    private let monitor = Monitor()
    private var turn = 0
    var taken: Int { monitor.locked { turn } }

    func take(odd: Bool, _ count: Int) {
      for _ in 0..<count {
        monitor.locked {
          while (turn % 2 == 1) != odd { monitor.wait(until: .distantFuture) }
          turn += 1
          monitor.signal()
        }
      }
    }
  }
}
