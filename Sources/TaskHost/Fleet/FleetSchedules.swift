import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// Makes the fleet's requests of `schedule` lines match this host's configuration, whenever that is new or the host has joined anew.
///
/// Each schedule is one request of the fleet, with the unique key that it has on one host. If the configurations of hosts differ, the host
/// that was launched or reloaded last decides. A schedule ends when no host has it any more.
final class FleetSchedules {
  private let agent: FleetAgent
  /// For which incarnation, with which version of the schedules, all is done.
  private var done: (incarnation: String, version: Int)?
  /// When what runs now is looked at again.
  private var due = MonotonicTime(nanoseconds: 0)

  private static let pause = Duration.seconds(5)

  init(_ agent: FleetAgent) { self.agent = agent }

  func align(_ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    let (wanted, version) = agent.schedules
    if let done, done == (incarnation, version) { return }
    guard SystemClock.now >= due else { return }
    due = SystemClock.now + Self.pause
    if try align(wanted, exchanges, session, incarnation) { done = (incarnation, version) }
  }

  /// Returns whether nothing is left to do.
  private func align(
    _ wanted: [ScheduleName: ScheduledRequest], _ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Bool {
    let names = Array(wanted.keys)
    let abandoned = try session.declare(names, host: agent.place.host.name)
    let stored = names.isEmpty ? [:] : try session.requests(of: names)
    let answer = Awaited<FleetScheduleChanges>()
    agent.scheduler.align(wanted, with: stored, fleet: agent.place.origin) { answer.set($0) }
    let changes = answer.wait()
    for (name, refusal) in changes.refused { agent.log.error("the schedule \(name) of the fleet: \(refusal)") }
    var drafts: [FleetDraft] = []
    for submission in changes.missing {
      drafts.append(FleetDraft(record: submission.record, lane: try exchanges.writer.numbers.id(of: submission.record.lane, session)))
    }
    // If another host adds it at this moment, its own is kept.
    if !drafts.isEmpty {
      _ = try session.enqueue(named: drafts)
      try session.notify()
    }
    let isDone = Guarded(true)
    // A host that runs it at this moment has it until its end.
    for name in changes.changed {
      guard let id = stored[name]?.id, let schedule = wanted[name] else { continue }
      let change = FleetErrand(.all([id])) { _ in
        .align(id, with: name, schedule)
      } completion: { result in
        if case .failure = result { isDone.withLock { $0 = false } }
      }
      try exchanges.run(change, session, incarnation)
    }
    for id in abandoned {
      guard try !session.stop(id) else { continue }
      let end = FleetErrand(.all([id])) { _ in
        .endSchedule(id)
      } completion: { result in
        if case .failure = result { isDone.withLock { $0 = false } }
      }
      try exchanges.run(end, session, incarnation)
    }
    return isDone.withLock { $0 }
  }
}
