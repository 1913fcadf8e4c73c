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
/// What is missing is added once more some seconds later: another host may have ended a schedule at the moment when this one saw it, or
/// before it knew that this one has it. What somebody cancels after that stays cancelled until the next launch or reload of a host.
final class FleetSchedules {
  private let agent: FleetAgent
  /// The version of the schedules that was brought into the fleet, the one of which nothing was missing some seconds later, and the incarnation
  /// that has said which schedules the host has.
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
    let names = Array(wanted.keys)
    let abandoned = try session.declare(names, host: agent.place.host.name)
    let (stored, isStopping) = names.isEmpty ? ([:], false) : try session.requests(of: names)
    let answer = Awaited<FleetScheduleChanges>()
    agent.scheduler.align(wanted, with: stored, fleet: agent.place.origin) { answer.set($0) }
    let changes = answer.wait()
    for (name, refusal) in pass == .align ? changes.refused : [] { agent.log.error("the schedule \(name) of the fleet: \(refusal)") }
    var drafts: [FleetDraft] = []
    for submission in pass == .declare ? [] : changes.missing {
      drafts.append(FleetDraft(record: submission.record, lane: try exchanges.writer.numbers.id(of: submission.record.lane, session)))
    }
    // If another host adds it at this moment, its own is kept.
    let added = drafts.isEmpty ? [] : try session.enqueue(named: drafts).filter { $0.known == .new }
    if !added.isEmpty { try session.notify() }
    let isDone = Guarded(!isStopping && (pass == .align || added.isEmpty))
    // A host that runs it at this moment has it until its end.
    for name in pass == .align ? changes.changed : [] {
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
