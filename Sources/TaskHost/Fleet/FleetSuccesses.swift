import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

/// Tells the scheduler of the successes of the fleet's identifiers, wherever they ran: `expect_within` is about all of them.
final class FleetSuccesses {
  private let agent: FleetAgent
  private var due = MonotonicTime(nanoseconds: 0)
  /// Until when all successes were told of.
  private var asked: MonotonicTime?

  private static let pause = Duration.seconds(10)
  /// How far back it is looked again: a run has the time of its statement, and is seen after the commit.
  private static let overlap = Duration.seconds(10)
  /// How far back it is looked at first. What is longer ago, this host remembers if it ran here; otherwise it counts from its launch.
  private static let longest = Duration.seconds(26 * 3600)

  init(_ agent: FleetAgent) { self.agent = agent }

  func look(_ session: FleetSession) throws(FleetError) {
    let now = SystemClock.now
    guard now >= due else { return }
    due = now + Self.pause
    let answer = Awaited<[ObjectiveState]>()
    agent.scheduler.objectives { answer.set($0) }
    let shared = Set(agent.lease.identifiers)
    let expected = answer.wait().filter { $0.expectWithin != nil && shared.contains($0.identifier) }
    guard !expected.isEmpty else {
      asked = nil
      return
    }
    let age = asked.map { now - $0 } ?? min(Self.longest, expected.compactMap(\.expectWithin).max() ?? .zero)
    let found = try session.successes(of: expected.map(\.identifier), within: age + Self.overlap)
    agent.scheduler.noteFleetSuccesses(found, of: Set(expected.map(\.identifier)), asked: SystemClock.now - now)
    asked = now
  }
}
