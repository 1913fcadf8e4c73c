import FleetStore
import HostThreads
import TaskModel

/// Tells who reads this host's events of the fleet's runs on other hosts: what they report while they go on, and how they end.
final class FleetStream {
  private let agent: FleetAgent
  /// When the database is asked next.
  private var due = MonotonicTime(nanoseconds: 0)

  private struct Told {
    /// Until when, by the database's clock.
    var until: WallTime
    /// The ended runs and requests that may be found again.
    var runs: Set<RunID> = []
    var requests: Set<RequestID> = []
    /// The runs that go on, as they were told of.
    var live: [RunID: RunRecord] = [:]
  }

  /// What was told; nil while nobody reads events.
  private var told: Told?

  /// How often the database is asked at least while somebody reads.
  static let pause = Duration.seconds(1)
  /// How far back it is looked again: rows have the time of their statement, and are seen after their commit.
  private static let overlap = Duration.seconds(5)
  /// The most runs that go on of which it is known what was told.
  private static let mostLive = 10_000

  init(_ agent: FleetAgent) { self.agent = agent }

  /// Whether somebody reads events.
  var isRead: Bool { told != nil }

  /// Tells what is new.
  func look(_ session: FleetSession) throws(FleetError) {
    guard let since = agent.observedSince() else {
      told = nil
      return
    }
    guard told == nil || SystemClock.now >= due else { return }
    due = SystemClock.now + Self.pause / 2
    let before = told
    let age = SystemClock.now - since
    // At first only what has happened since then: who reads knows the rest. What a host tells of, others see later.
    let known = SystemClock().wallTime.moved(by: .zero - age - FleetProgress.pause * 2)
    let back = before?.until.moved(by: .zero - Self.overlap)
    var next = Told(until: .distantPast)
    next.live = before.map { $0.live.count < Self.mostLive ? $0.live : [:] } ?? [:]
    for run in try session.running(toldSince: back, besides: agent.lease.incarnation) {
      if next.live[run.id] == nil, before != nil { agent.observe(.run(run)) }
      tell(run, after: next.live[run.id], since: known)
      next.live[run.id] = run
    }
    let (ended, until) = try session.ended(since: back, or: age, besides: agent.lease.incarnation)
    next.until = until
    for (run, request) in ended {
      next.runs.insert(run.id)
      guard before?.runs.contains(run.id) != true else { continue }
      tell(run, after: next.live.removeValue(forKey: run.id), since: known)
      agent.observe(.run(run))
      if let request { agent.observe(.request(request)) }
    }
    // Those that ended without a run, as what waited for a failure, and what was cancelled before it began.
    let first = back ?? until.moved(by: .zero - age - Self.overlap)
    for request in try session.endedWithoutRun(since: first, besides: agent.lease.incarnation) {
      next.requests.insert(request.id)
      if request.state.isFinal, before?.requests.contains(request.id) != true { agent.observe(.request(request)) }
    }
    told = next
  }

  /// Tells what a run has reported besides what was told of it.
  ///
  /// - Parameter known: Older lines of a run of which nothing was told are not new.
  private func tell(_ run: RunRecord, after before: RunRecord?, since known: WallTime) {
    let reference = RunReference(run: run.id, request: run.request, identifier: run.identifier)
    let report = run.report
    for line in before.map({ Array(report.log.lines(after: $0.report.log)) }) ?? report.log.filter({ $0.time >= known }) {
      agent.observe(.log(reference, line))
    }
    if let progress = report.progress, progress != before?.report.progress { agent.observe(.progress(reference, progress)) }
    if let work = report.work, work != before?.report.work { agent.observe(.work(reference, work)) }
  }
}

extension [LogLine] {
  /// The lines that follow those that were seen. Both are the last ones of one log, each at its time, and may be of different lengths.
  func lines(after seen: [LogLine]) -> ArraySlice<LogLine> {
    guard !seen.isEmpty else { return self[...] }
    let end = indices.last { last in
      let common = Swift.min(last + 1, seen.count)
      return self[(last + 1 - common)...last].elementsEqual(seen.suffix(common))
    }
    return end.map { dropFirst($0 + 1) } ?? self[...]
  }
}
