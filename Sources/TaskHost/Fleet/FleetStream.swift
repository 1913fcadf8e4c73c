import FleetStore
import HostThreads
import Logging
import TaskModel

/// Tells who reads this host's events of the fleet's runs on other hosts: what they report while they go on, and how they end.
final class FleetStream {
  private let agent: FleetAgent
  /// When the database is asked next.
  private var due = MonotonicTime(nanoseconds: 0)

  private struct Told {
    var runs: FleetToldEnds<RunID>?
    var requests: FleetToldEnds<RequestID>?
    /// Until when what goes on was looked at, by the database's clock, and the runs that go on, as they were told of.
    var liveUntil: WallTime?
    var live: [RunID: RunRecord] = [:]
  }

  /// What was told; nil while nobody reads events.
  private var told: Told?

  /// Why the last look failed; nil if it did not.
  private var failure: FleetError?

  /// How often the database is asked at least while somebody reads.
  static let pause = Duration.seconds(1)
  private static let pauseAfterFailure = Duration.seconds(5)
  /// How often it is looked at most for more ends at once.
  private static let mostParts = 4
  /// How many of what may be untold are looked at once.
  private static let mostUntold = 100
  /// The most runs that go on of which it is known what was told.
  private static let mostLive = 10_000

  init(_ agent: FleetAgent) { self.agent = agent }

  /// Whether somebody reads events.
  var isRead: Bool { told != nil }

  /// Tells what is new. What fails is tried again, and keeps nobody from anything else.
  func look(_ session: FleetSession) {
    guard let since = agent.observedSince() else {
      told = nil
      return
    }
    guard told == nil || SystemClock.now >= due else { return }
    due = SystemClock.now + Self.pause / 2
    do throws(FleetError) {
      try tell(session, observedFor: SystemClock.now - since)
      failure = nil
    } catch {
      if error.isNews(after: failure) { agent.log.warning("what other hosts do is not told: \(error)") }
      (failure, due) = (error, SystemClock.now + Self.pauseAfterFailure)
    }
  }

  private func tell(_ session: FleetSession, observedFor age: Duration) throws(FleetError) {
    let incarnation = agent.lease.incarnation
    // At first only what has happened since then: who reads knows the rest. What a host tells of, others see later.
    let known = SystemClock().wallTime.moved(by: .zero - age - FleetProgress.pause * 2)
    var next = told ?? Told()
    defer { told = next }
    if next.live.count >= Self.mostLive { next.live = [:] }
    for run in try session.running(toldSince: next.liveUntil?.moved(by: .zero - FleetToldEnds<RunID>.overlap), besides: incarnation) {
      if next.live[run.id] == nil, next.liveUntil != nil { agent.observe(.run(run)) }
      tell(run, after: next.live[run.id], since: known)
      next.live[run.id] = run
    }
    for _ in 0..<Self.mostParts {
      let ends = try session.endedRuns(since: next.runs?.since, or: age, besides: incarnation, told: next.runs?.times ?? [:])
      for (run, request) in ends.ended {
        tell(run, after: next.live.removeValue(forKey: run.id), since: known)
        agent.observe(.run(run))
        if let request { agent.observe(.request(request)) }
      }
      next.runs = next.runs ?? FleetToldEnds(since: ends.until.moved(by: .zero - age - FleetToldEnds<RunID>.overlap))
      next.runs?.note(ends.times, until: ends.until)
      next.liveUntil = ends.until
      guard ends.isPart else { break }
    }
    // Those that ended without a run, as what waited for a failure, and what was cancelled before it began.
    let first = (next.liveUntil ?? .distantPast).moved(by: .zero - age - FleetToldEnds<RequestID>.overlap)
    for _ in 0..<Self.mostParts {
      let ends = try session.endedWithoutRun(
        since: next.requests?.since ?? first, besides: incarnation, told: next.requests?.times ?? [:])
      for request in ends.ended where request.state.isFinal { agent.observe(.request(request)) }
      next.requests = next.requests ?? FleetToldEnds(since: first)
      next.requests?.note(ends.times, until: ends.until)
      guard ends.isPart else { break }
    }
    for id in agent.state.withLock({ Array($0.untold.prefix(Self.mostUntold)) }) {
      do throws(FleetError) {
        if let request = try session.request(id), request.state.isFinal {
          if let run = try session.lastRun(of: id) { agent.observe(.run(run)) }
          agent.observe(.request(request))
        }
      } catch .refused(let flaw) { agent.log.warning("the end of request \(id) is not told: \(flaw)") }
      agent.state.withLock { _ = $0.untold.remove(id) }
    }
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
