import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

// The host gives up what it holds: an operator wants it for others (`taskhost fleet fence`), or others may have it.

extension FleetExchanges {
  /// How often the host looks whether its runs are dead.
  private static let leavingPause = Duration.milliseconds(50)
  /// How often it looks for what the scheduler has given back, once nothing runs, before it leaves that to whoever gets the requests.
  private static let mostLooks = 20

  /// Stops the fleet's runs, and records what became of them. Once they are dead, the lease ends: this thread alone claims, and it has claimed
  /// nothing since it knows.
  ///
  /// - Returns: How long until the next turn.
  func giveUp(_ work: inout FleetAgent.Work, _ session: FleetSession, _ incarnation: String) throws(FleetError) -> Duration {
    let settled = try writer.settlements(&work.settled, incarnation, session)
    if !settled.isEmpty { agent.letGo(of: work.settled, fenced: try session.record(incarnation, settled, tells: true)) }
    work.settled = []
    agent.scheduler.forceLeased()
    guard FleetAgent.runsNothing(agent.scheduler) else {
      looksSinceDead = 0
      return Self.leavingPause
    }
    looksSinceDead += 1
    guard !agent.holdsAny || looksSinceDead > Self.mostLooks else { return Self.leavingPause }
    looksSinceDead = 0
    _ = try session.fence(incarnation, because: "\(agent.lease.leavingReason), and it has given up what it held")
    agent.lease.gaveUp(incarnation)
    return Self.leavingPause
  }
}
