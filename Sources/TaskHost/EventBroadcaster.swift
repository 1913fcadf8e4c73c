import HostConditions
import HostThreads
import Logging
import Synchronization
import TaskModel
import TaskScheduler

/// Logs the events of launcher and scheduler, keeps them for status queries, and forwards them to the observer.
///
/// Created before the plugins launch, so that their output during launch is logged.
final class EventBroadcaster: Sendable {
  let lastRuns = LastRuns()
  let live = LiveView()
  let endedRuns = EndedRunCounts()
  let notices: NoticeCounts
  private let observer = Mutex<(observer: HostObserver, since: MonotonicTime)?>(nil)
  private let told = Mutex(Tellers())
  private let begunRuns: BegunRuns
  private let log: Logger
  private let scheduler: Scheduler
  private let trouble = Mutex<(error: StoreError, since: WallTime)?>(nil)

  init(_ scheduler: Scheduler, begunRuns: BegunRuns, notices: [NoticeRule] = [], log: Logger) {
    self.notices = NoticeCounts(notices)
    self.scheduler = scheduler
    self.begunRuns = begunRuns
    self.log = log
  }

  /// Nil while the store works.
  var storeTrouble: (error: StoreError, since: WallTime)? { trouble.withLock { $0 } }

  /// Since when there has been an observer; nil if there is none.
  var observedSince: MonotonicTime? { observer.withLock { $0?.since } }

  /// Replaces the observer; nil removes it. The scheduler creates events only while there is an observer.
  func observe(_ new: HostObserver?) {
    observer.withLock { observer in
      if (observer == nil) != (new == nil) { scheduler.observeEvents(new != nil) }
      observer = new.map { ($0, observer?.since ?? SystemClock.now) }
    }
  }

  /// Who is told of what happens.
  var tellers: Tellers { told.withLock { $0 } }

  /// Tells these from now on. Who was told before is to be stopped.
  func begin(_ next: Tellers) { told.withLock { $0 = next } }

  /// What became of spans; nil if no collector is told of traces.
  var spans: SpanCounts? { tellers.exporter?.counts }

  /// What became of pings; nil if no monitor is told anything.
  var pings: [String: Int]? { tellers.pinger?.counts }

  /// Notifies nobody any more.
  func stopNotifying() {
    let last = told.withLock { told in
      defer { told = Tellers() }
      return told
    }
    last.stop()
  }

  /// Tells the observer that no more events follow.
  func finish() {
    let last = observer.withLock { observer in
      defer { observer = nil }
      return observer?.observer
    }
    last?.finish()
  }

  func receive(_ event: LauncherEvent) {
    switch event {
    case .progress(let run, let progress):
      live.note(progress, of: run.run)
      tellers.notifier?.note(progress, of: run)
      tell(.progress(run, progress))
    case .work(let run, let work):
      live.note(work, of: run.run)
      tell(.work(run, work))
    case .log(let run, let line):
      live.note(line, of: run.run)
      log.log(
        level: Logger.Level(line.level), "\(line.message)",
        metadata: line.metadata(run.labels))
      tell(.log(run, line))
    case .expired(let run, let reason):
      log.notice("run expired: \(reason.rawValue)", metadata: run.labels)
    case .suspended(let identifier, let reason):
      log.error("plugin suspended: \(reason)", metadata: ["identifier": "\(identifier)"])
    case .resumed(let identifier):
      log.notice("plugin takes runs again", metadata: ["identifier": "\(identifier)"])
    case .stuck(let run, let thread, let stack):
      let place = stack.isEmpty ? "" : ": " + stack.split(separator: "\n").prefix(6).joined(separator: "; ")
      log.error("run is stopped by force: thread \(thread)\(place)", metadata: run.labels)
    case .output(let identifier, let line):
      log.log(level: Logger.Level(line.level), "\(line.message)", metadata: line.metadata(["identifier": "\(identifier)"]))
    case .misbehaved(let identifier, let what, _): log.error("\(what)", metadata: ["identifier": "\(identifier)"])
    case .began(let run): begunRuns.note(run)
    case .shortage(let identifier, let sentence, _):
      log.error(
        "\(sentence): the request stays pending, and its plugin is tried again soon", metadata: ["identifier": "\(identifier)"])
    case .relieved(let identifier):
      log.notice("the host has what the plugin needs again", metadata: ["identifier": "\(identifier)"])
    case .ended, .withdrawn: break
    }
  }

  func receive(_ notice: Scheduler.Notice) {
    switch notice {
    case .event(let event): tell(event)
    case .ended(let record):
      live.forget(record.id)
      lastRuns.note(record)
      endedRuns.note(record)
      notices.note(record)
      tellers.pinger?.note(record)
      tellers.exporter?.note(record)
      tellers.notifier?.note(record)
      logEnd(of: record)
    case .storeFailed(let error):
      let now = SystemClock().wallTime
      trouble.withLock { $0 = (error, now) }
      tellers.notifier?.note(error, at: now)
      log.critical("\(error); no runs are started until it works again, outcomes are kept and recorded then")
    case .health(let identifier, let health):
      log(health, of: identifier)
    case .conditionsAwaited, .filesAwaited, .wakeAwaited, .surrendered: break
    case .paced(let identifier, let interval):
      log.notice(
        "it submits its next request without a date: that waits for minimum_interval, \(DurationText.format(interval)), after its last run began",
        metadata: ["identifier": "\(identifier)"])
    case .objective(let state):
      for problem in state.problems { log.warning("\(problem.sentence)", metadata: ["identifier": "\(state.identifier)"]) }
    case .submitted(let request): tellers.exporter?.note(submitted: request)
    case .began(let run): tellers.pinger?.note(began: run)
    case .incident(let incident):
      tellers.notifier?.note(incident)
      tellers.pinger?.note(incident)
    case .told(let rule, let step):
      notices.note(step, of: rule)
      if case .refused(let reason) = step { log.error("[[notify]] \(rule): a notification was refused, so nobody is told: \(reason)") }
    case .pauseEnded(let pause): log.notice("the pause \(pause.id) of \(pause.subject) has ended: its time is over")
    case .storeRecovered:
      trouble.withLock { $0 = nil }
      tellers.notifier?.note(nil, at: SystemClock().wallTime)
      log.notice("the store works again")
    }
  }

  /// An assertion was taken or has ended.
  func receive(_ assertion: Assertion) {
    let request = assertion.request
    // A plugin may take and end thousands a second.
    let everyday: Logger.Level = request.run == nil ? .info : .debug
    let (level, what): (Logger.Level, String) =
      switch assertion.state {
      case .held: (everyday, "held for at most \(DurationText.format(request.length))\(request.reason.map { ": \($0)" } ?? "")")
      case .givenBack: (everyday, "given back")
      case .expired: (.warning, "expired after \(DurationText.format(request.length)): the host no longer waits for it")
      case .holderEnded: (.notice, "ended: its process is gone")
      case .runEnded: (.notice, "ended with its run, which had not ended it")
      case .unreachable: (.warning, "ended: the control socket has failed, so its holder cannot give it back")
      case .overruled: (.warning, "overruled: the host ends without waiting for it")
      }
    var metadata: Logger.Metadata = ["assertion": "\(assertion.id)", "name": "\(request.name)"]
    if let run = request.run {
      metadata["identifier"] = "\(run.identifier)"
      metadata["run"] = "\(run.run)"
    }
    if let process = request.process { metadata["process"] = "\(process)" }
    if let user = request.user { metadata["user"] = "\(user)" }
    log.log(level: level, "assertion \(what)", metadata: metadata)
    tell(.assertion(assertion))
  }

  private func log(_ health: PluginHealth, of identifier: TaskIdentifier) {
    guard health.failures > 0 else { return }
    let what = health.isQuarantined ? "plugin quarantined: taskhost plugins release \(identifier)" : "plugin held back"
    log.log(
      level: health.isQuarantined ? .error : .warning, "\(what)",
      metadata: ["identifier": "\(identifier)", "strikes": "\(health.failures)", "last": "\(health.lastTrouble ?? "")"])
  }

  private func tell(_ event: @autoclosure () -> HostEvent) {
    guard let observer = observer.withLock({ $0?.observer }) else { return }
    observer.receive(event())
  }

  private func logEnd(of record: RunRecord) {
    guard let outcome = record.outcome else { return }
    let level: Logger.Level =
      switch outcome {
      case .succeeded, .noop, .snoozed, .cancelled, .stopped: .info
      case .retried, .lost: .notice
      case .failed, .expired, .crashed: .warning
      }
    guard log.logLevel <= level else { return }
    var metadata: Logger.Metadata = RunReference(run: record.id, request: record.request, identifier: record.identifier).labels
      .merging(["attempt": "\(record.attempt)"]) { $1 }
    if let duration = record.duration { metadata["duration_ms"] = "\(duration.wholeMilliseconds)" }
    if let reason = record.report.stopReason { metadata["stop_reason"] = "\(reason.rawValue)" }
    log.log(level: level, "run \(outcome.rawValue)\(record.report.message.map { ": \($0)" } ?? "")", metadata: metadata)
  }
}

extension RunReference {
  /// What the log says of it with each line.
  fileprivate var labels: Logger.Metadata { ["identifier": "\(identifier)", "run": "\(run)", "request": "\(request)"] }
}
