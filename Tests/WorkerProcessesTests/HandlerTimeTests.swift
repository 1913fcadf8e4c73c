import TaskModel
import Testing
import WorkerLink

@testable import WorkerProcesses

/// Whose word counts for how long a handler's call took.
@Suite("The time of a handler's call") struct HandlerTimeTests {
  private static let sent = Moment(time: MonotonicTime(nanoseconds: 1_000_000_000), calendar: WallTime(unixMilliseconds: 0))

  /// What counts when the worker says `said` and the host reads of the end `lasted` after the run was sent.
  private func time(said: Duration?, lasted: Duration, hasBegun: Bool = true) throws -> Duration? {
    let id = RunID(sequence: 1, origin: 1)
    var run = WorkerRun(
      order: RunOrder(run: id, request: RequestID(sequence: 1, origin: 2), contract: .scripted, attempt: 1, payload: []))
    run.send(at: Self.sent)
    if hasBegun { run.begin(at: Self.sent) }
    var report = RunReport()
    report.handlerTime = said
    let ending = WireEnding(run: id, ending: .returned(.success, stop: nil), report: report)
    return try run.report(of: ending, at: Moment(time: Self.sent.time + lasted, calendar: Self.sent.calendar)).handlerTime
  }

  @Test("the worker's word counts where the way to the host and back explains the difference")
  func believed() throws {
    for (said, lasted) in [(0, 100), (1, 101), (600, 650), (600, 600), (3_600_000, 3_600_100)] {
      #expect(try time(said: .milliseconds(said), lasted: .milliseconds(lasted)) == .milliseconds(said), "\(said) of \(lasted)")
    }
    #expect(try time(said: nil, lasted: .milliseconds(100)) == nil)
  }

  @Test("where it does not, what the host saw counts, less that way")
  func measured() throws {
    for (said, lasted) in [(0, 600), (1, 600), (499, 600), (0, 3_600_000)] {
      #expect(try time(said: .milliseconds(said), lasted: .milliseconds(lasted)) == .milliseconds(lasted - 100), "\(said) of \(lasted)")
    }
    #expect(try time(said: nil, lasted: .milliseconds(600)) == .milliseconds(500))
  }

  @Test("a run took no longer than its worker had it")
  func bounded() throws {
    #expect(try time(said: .seconds(900), lasted: .milliseconds(600)) == .milliseconds(600))
    // It waited in the worker behind others, as far as the host knows.
    #expect(try time(said: .milliseconds(1), lasted: .seconds(9), hasBegun: false) == .milliseconds(1))
    #expect(try time(said: .seconds(900), lasted: .seconds(9), hasBegun: false) == .seconds(9))
  }
}
