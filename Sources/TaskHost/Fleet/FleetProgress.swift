import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

/// Lets other hosts see the fleet's runs that go on here for a while, with their progress and the last lines of their logs.
final class FleetProgress {
  private let agent: FleetAgent
  /// When it is looked again.
  private var due = MonotonicTime(nanoseconds: 0)
  /// What the database has of this incarnation's runs.
  private var published: (incarnation: String, runs: [RequestID: RunRecord])?

  /// How often it is published at most, and how old a run must be: short ones write nothing.
  static let pause = Duration.seconds(2)

  /// The most bytes of a log's messages: each time that it grows, all are written anew.
  private static let logBytes = 8192

  init(_ agent: FleetAgent) { self.agent = agent }

  /// Returns whether runs go on here, of which more may have to be told soon.
  func publish(_ session: FleetSession, _ incarnation: String) throws(FleetError) -> Bool {
    guard agent.holdsAny else { return false }
    guard SystemClock.now >= due else { return true }
    due = SystemClock.now + Self.pause
    let answer = Awaited<[LiveRunEntry]>()
    agent.scheduler.liveRuns { answer.set($0) }
    let began = SystemClock().wallTime.moved(by: .zero - Self.pause)
    var runs: [RequestID: RunRecord] = [:]
    for entry in answer.wait() where entry.request.origin == agent.place.origin && entry.started <= began {
      var run = agent.complete(entry.record)
      var bytes = 0
      run.report.log = run.report.log.reversed().prefix { line in
        bytes += line.message.utf8.count
        return bytes <= Self.logBytes
      }.reversed()
      runs[run.request] = run
    }
    let known = published?.incarnation == incarnation ? published?.runs ?? [:] : [:]
    let new = runs.filter { known[$0.key] != $0.value }
    if !new.isEmpty { try session.publish(incarnation, running: Array(new.values)) }
    published = (incarnation, runs)
    return true
  }
}
