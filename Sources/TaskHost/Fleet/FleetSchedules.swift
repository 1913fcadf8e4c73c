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
/// What is missing is added later too: another host may have ended a schedule at the moment when this one saw it, or before it knew that this
/// one has it.
final class FleetSchedules {
  private let agent: FleetAgent
  /// The version of the schedules that was brought into the fleet.
  private var aligned: Int?
  /// For which incarnation and which version nothing was missing, and until when that is not looked at again.
  private var done: (incarnation: String, version: Int, until: MonotonicTime)?
  /// When it is looked at again.
  private var due = MonotonicTime(nanoseconds: 0)

  private static let pause = Duration.seconds(5)
  private static let rest = Duration.seconds(3600)

  init(_ agent: FleetAgent) { self.agent = agent }

  func align(_ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    let (wanted, version) = agent.schedules
    if let done, done.incarnation == incarnation, done.version == version, SystemClock.now < done.until { return }
    guard SystemClock.now >= due else { return }
    due = SystemClock.now + Self.pause
    let isNew = aligned != version
    guard try align(wanted, isNew: isNew, exchanges, session, incarnation) else { return }
    if isNew { aligned = version } else { done = (incarnation, version, SystemClock.now + Self.rest) }
  }

  /// - Parameter isNew: Whether what is there is changed. Another host may have changed it since this one did.
  /// - Returns: Whether nothing is left to do.
  private func align(
    _ wanted: [ScheduleName: ScheduledRequest], isNew: Bool, _ exchanges: FleetExchanges, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Bool {
    let names = Array(wanted.keys)
    let abandoned = try session.declare(names, host: agent.place.host.name)
    let (stored, isStopping) = names.isEmpty ? ([:], false) : try session.requests(of: names)
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
    let isDone = Guarded(!isStopping && (isNew || drafts.isEmpty))
    // A host that runs it at this moment has it until its end.
    for name in isNew ? changes.changed : [] {
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
