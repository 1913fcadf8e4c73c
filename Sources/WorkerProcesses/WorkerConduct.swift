import HostThreads
import TaskModel
import WorkerLink

/// Judges the messages of one worker process by what it has sent before.
///
/// A plugin shares its process with taskhost-worker, so it can send whatever the worker can: the host enforces each of the worker's limits
/// again. What no honest worker does is a violation and ends the process. The limits leave room for messages that arrive late.
struct WorkerConduct {
  /// What no honest worker does: a clause whose subject is the worker.
  struct Violation: Error, Hashable { let what: String }

  private enum Stage { case unconfined, launching, launched }

  private let began: MonotonicTime
  private var stage = Stage.unconfined
  private var launchLines = 0
  private var strayLines = 0
  /// Limits messages about unknown runs: a few may be under way when a run ends.
  private var strayWords = RateAllowance(burst: 1000, perSecond: 100)
  /// Limits the lines of all its runs in the host's log.
  private var lines = RateAllowance(burst: 5000, perSecond: 1000)
  private var droppedLines: UInt64 = 0
  /// When dropped lines were last reported.
  private var droppedToldAt: MonotonicTime?
  /// Lines that it sent since it last reported dropped lines, and the total that it reported.
  private var linesSinceDrop = 0
  private var linesSaidDropped: UInt64 = 0
  /// Runs that it was sent, and shortages that it reported.
  private var runsSent = 0
  private var shortages = 0

  /// A process that was started at `began`.
  init(began: MonotonicTime) { self.began = began }

  /// Whether it has said that its plugin has launched.
  var hasLaunched: Bool { stage == .launched }

  /// Whether it has said that it is confined, so that its plugin's code may have run.
  var isConfined: Bool { stage != .unconfined }

  mutating func noteSent(_ runs: Int) { runsSent = runsSent.adding(saturating: runs) }

  mutating func noteLaunched() { stage = .launched }

  /// Records a message; throws if it must not come now. ``WorkerRun`` judges what it says about a run.
  ///
  /// - Parameter isLeaving: Whether it was asked to end.
  mutating func judge(_ message: WorkerMessage, isLeaving: Bool, at now: MonotonicTime) throws(Violation) {
    if case .log = message { linesSinceDrop = linesSinceDrop.adding(saturating: 1) }
    switch (message, stage) {
    case (.confined, .unconfined): stage = .launching
    case (.confined, _): throw Violation(what: "it said for the second time how it is confined")
    case (.refused, .unconfined), (.refused, .launching): break
    case (_, .unconfined): throw Violation(what: "it spoke before it was confined")
    case (.launched, .launching): break
    case (.launched, _), (.refused, _): throw Violation(what: "it launched twice")
    case (.launchLog, .launching):
      launchLines += 1
      // Its launch function may have been called twice.
      guard launchLines <= 2 * Self.most(Limits.logBurst, Limits.logRate, in: now - began) else {
        throw Violation(what: "it logged more while launching than it may")
      }
    case (.launchLog, _): throw Violation(what: "it logged as a launching plugin after its launch")
    case (.log(nil, _), _):
      strayLines += 1
      guard strayLines <= Self.strayLineLimit else { throw Violation(what: "it logged more outside of its runs than it may") }
    case (.dropped(let lines), _): try noteDropped(lines, at: now)
    case (.call, _): break
    case (.stopped, _):
      guard isLeaving else { throw Violation(what: "it said that it has stopped, which it was not asked to") }
    case (.ended, .launching), (.expired, .launching), (.progress, .launching), (.log(.some, _), .launching), (.stuck, .launching),
      (.work, .launching), (.withdrawn, .launching), (.began, .launching), (.shortage, .launching):
      throw Violation(what: "it spoke of runs before its plugin had launched")
    case (.ended, .launched), (.expired, .launched), (.progress, .launched), (.log(.some, _), .launched), (.stuck, .launched),
      (.work, .launched), (.withdrawn, .launched), (.began, .launched), (.shortage, .launched):
      break
    }
  }

  /// Counts a message about an unknown run.
  mutating func noteStrayWord(at now: MonotonicTime) throws(Violation) {
    guard strayWords.pass(at: now) else { throw Violation(what: "it says again and again what means nothing") }
  }

  /// The worker reports dropped lines. An honest one drops only when its queue is full, and no more than its runs may write.
  private mutating func noteDropped(_ lines: UInt64, at now: MonotonicTime) throws(Violation) {
    guard lines > 0 else { throw Violation(what: "it reported that no lines were dropped") }
    guard linesSinceDrop >= LinkFormat.waitingLines else { throw Violation(what: "it reported dropped lines that it had room for") }
    linesSinceDrop = 0
    linesSaidDropped = linesSaidDropped.adding(saturating: lines)
    let runs = runsSent.adding(saturating: 1)
    let most = Self.most(
      Limits.logBurst.multiplied(saturatingBy: runs), Limits.logRate.multiplied(saturatingBy: min(runs, Self.runsAtOnce)), in: now - began)
    guard linesSaidDropped <= UInt64(clamping: most) else {
      throw Violation(what: "it reported more dropped lines than its runs may write")
    }
    droppedLines = droppedLines.adding(saturating: lines)
  }

  /// The worker reports that a run could not begin: at most once for each run that it was sent.
  mutating func noteShortage() throws(Violation) {
    shortages = shortages.adding(saturating: 1)
    guard shortages <= runsSent else { throw Violation(what: "it lacked something for more runs than it was sent") }
  }

  /// Whether one more line may go into the host's log; if not, it counts as dropped.
  mutating func passLine(at now: MonotonicTime) -> Bool {
    if lines.pass(at: now) { return true }
    droppedLines = droppedLines.adding(saturating: lines.takeRefused())
    return false
  }

  /// Lines dropped by the worker or here since the last report; 0 while there is no room for a report or the last one is too recent.
  mutating func takeDropped(at now: MonotonicTime) -> UInt64 {
    guard droppedLines > 0, droppedToldAt.map({ now - $0 >= Self.dropInterval }) ?? true else { return 0 }
    guard lines.pass(at: now) else {
      // The report itself does not count as dropped.
      _ = lines.takeRefused()
      return 0
    }
    droppedToldAt = now
    return takeAllDropped()
  }

  /// As ``takeDropped(at:)``, when the process is gone.
  mutating func takeAllDropped() -> UInt64 {
    defer { droppedLines = 0 }
    return droppedLines
  }

  /// Four times what a worker with these limits lets through. Messages arrive late but never early, so the count runs from the start.
  static func most(_ burst: Int, _ perSecond: Int, in time: Duration) -> Int {
    let seconds = Int(clamping: max(.zero, time).wholeMilliseconds / 1000).adding(saturating: 1)
    return perSecond.multiplied(saturatingBy: seconds).adding(saturating: burst).multiplied(saturatingBy: 4)
  }

  /// For denials of the sandbox; a worker reports 64.
  private static let strayLineLimit = 1024
  /// Runs that the handlers of one plugin may have at once.
  private static let runsAtOnce = LinkFormat.registrations * Limits.concurrentRuns
  /// Between two lines about dropped ones.
  private static let dropInterval = Duration.seconds(5)
}
