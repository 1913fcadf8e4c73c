import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// Makes the fleet's requests of `schedule` lines match this host's configuration whenever that is new.
///
/// Each schedule is one request of the fleet, with the unique key that it has on one host. If the configurations of hosts differ, the host
/// that was launched or reloaded last decides. A schedule ends when no host has it any more.
///
/// A few seconds later, the host adds what is missing by then: another host may have ended a schedule before it knew that this one has it. What
/// somebody cancels after that stays cancelled until a host is launched or reloaded.
final class FleetSchedules {
  private let agent: FleetAgent
  /// The version of the schedules that was brought into the fleet; the version of which nothing was missing some seconds later; and the
  /// incarnation that has said which schedules the host has.
  private var (aligned, confirmed, declared): (Int?, Int?, String?) = (nil, nil, nil)
  /// When it is looked at again.
  private var due = MonotonicTime(nanoseconds: 0)

  /// What is done to the fleet's requests.
  private enum Pass {
    /// They are made as the configuration has them.
    case align
    /// What is missing is added. Another host may have changed the rest.
    case add
    /// The host says which it has.
    case declare
  }

  private static let pause = Duration.seconds(5)

  init(_ agent: FleetAgent) { self.agent = agent }

  func align(_ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    let (wanted, version) = agent.schedules
    let pass: Pass = aligned != version ? .align : confirmed != version ? .add : .declare
    guard pass != .declare || declared != incarnation, SystemClock.now >= due else { return }
    due = SystemClock.now + Self.pause
    guard try carryOut(pass, wanted, exchanges, session, incarnation) else { return }
    declared = incarnation
    switch pass {
    case .align: aligned = version
    case .add: confirmed = version
    case .declare: break
    }
  }

  /// Returns whether nothing is left to do.
  private func carryOut(
    _ pass: Pass, _ wanted: [ScheduleName: ScheduledRequest], _ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Bool {
    let abandoned = try session.declare(Array(wanted.keys), host: agent.place.host.name)
    let brings = pass != .declare && !wanted.isEmpty
    let isDone = Guarded(brings ? try bring(wanted, pass, exchanges, session, incarnation) : true)
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

  /// Brings the schedules into the fleet. Returns whether nothing is left to do.
  private func bring(
    _ wanted: [ScheduleName: ScheduledRequest], _ pass: Pass, _ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Bool {
    let (stored, isStopping) = try session.requests(of: Array(wanted.keys))
    let answer = Awaited<FleetScheduleChanges>()
    agent.scheduler.align(wanted, with: stored, fleet: agent.place.origin) { answer.set($0) }
    let changes = answer.wait()
    var drafts: [FleetDraft] = []
    for submission in changes.missing {
      drafts.append(FleetDraft(record: submission.record, lane: try exchanges.writer.numbers.id(of: submission.record.lane, session)))
    }
    // If another host adds it at this moment, its own is kept.
    let added = drafts.isEmpty ? [] : try session.enqueue(named: drafts).filter { $0.known == .new }
    if !added.isEmpty { try session.notify() }
    guard pass == .align else { return !isStopping && added.isEmpty }
    for (name, refusal) in changes.refused { agent.log.error("the schedule \(name) of the fleet: \(refusal)") }
    let isDone = Guarded(!isStopping)
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
    return isDone.withLock { $0 }
  }
}
