import HostConditions
import HostThreads
import HostWatches
import Logging
import TaskModel
import TaskScheduler

/// Monitors the machine: its conditions, its clocks, and the files that requests wait for.
final class MachineMonitor: Sendable {
  let conditions: ConditionMonitor
  /// The operators' decisions about conditions. Only this class may change them.
  let overrides: ConditionOverrides
  private struct Watched {
    var requested: Set<String> = []
    /// The host's own callbacks for changed files.
    var own: [String: [@Sendable () -> Void]] = [:]
    /// Callbacks to call once the file is watched, since it may have changed before.
    var fresh: [(path: String, changed: @Sendable () -> Void)] = []
  }

  private let log: Logger
  private let clocks: ClockWatch?
  private let waking: MachineWaking
  private let files: FileWatches?
  private let watched: Guarded<Watched>
  private let fileEvents: FileEvents
  private let worker: WatchQueue

  /// Starts to notify the scheduler when conditions or watched files change, the clock is set, or the machine wakes up. Applies and logs
  /// the overrides saved in `directory`.
  init(
    _ configuration: HostConfiguration, _ directory: StateDirectory, _ scheduler: Scheduler, clock: any HostClock, log: Logger
  ) throws(HostFailure) {
    self.log = log
    var sources = ConditionSources(storage: configuration.stateDirectory)
    // The load of runs does not count against `idle`.
    sources.ownLoad = { Double(scheduler.liveRunCount) }
    let settings = configuration.observedConditions
    do {
      conditions = try ConditionMonitor(settings: settings, sources: sources, clock: clock, changed: { scheduler.receive($0) })
    } catch { throw HostFailure(.temporary, error.description) }
    do { worker = try WatchQueue() } catch { throw HostFailure(.temporary, error.description) }
    let waking = MachineWaking(log: log) { scheduler.cannotWake($0) }
    self.waking = waking
    clocks = Self.clockWatch(scheduler, waking, log)
    let watched = Guarded(Watched())
    self.watched = watched
    let fileEvents = FileEvents { path, recorded in
      scheduler.notify(EventTrigger.filePrefix + path, payload: nil) { if case .success = $0 { recorded(true) } else { recorded(false) } }
    }
    self.fileEvents = fileEvents
    files = Self.fileWatches(fileEvents, watched, log)
    overrides = ConditionOverrides(path: directory.conditionOverrides) { log.warning("\($0)") }
    for override in overrides.all {
      conditions.override(override.condition, holds: override.holds, since: override.since)
      log.warning("\(override.problem.text)", metadata: ["since_unix_ms": "\(override.since.unixMilliseconds)"])
    }
    scheduler.receive(conditions.report)
    let logins = LoginWatch { scheduler.raise($0) }
    watch(LoggedInUsers.directory) { logins.look() }
  }

  /// Overrides conditions until they are cleared, also across restarts. Blocks until that is saved.
  func override(_ decisions: [(condition: Conditions, holds: Bool)], at now: WallTime) throws(TextProblem) {
    try overrides.set(decisions, at: now) { inForce in
      for override in inForce { conditions.override(override.condition, holds: override.holds, since: override.since) }
    }
  }

  /// Lets the machine decide again. Blocks until that is saved.
  func clearOverrides(_ cleared: Conditions) throws(TextProblem) {
    try overrides.clear(cleared) { _ in conditions.clearOverride(cleared) }
  }

  /// The current relation between the clocks.
  static var clockReference: ClockReference {
    let offset = ClockOffset.now()
    return ClockReference(boot: offset.bootID, offset: offset.wallLessBoot.wholeMilliseconds)
  }

  private static func clockWatch(_ scheduler: Scheduler, _ waking: MachineWaking, _ log: Logger) -> ClockWatch? {
    let slept = Guarded(ClockOffset.bootLessMonotonic())
    do {
      return try ClockWatch(
        changed: {
          log.notice("the clock was set, or the machine slept: planning anew")
          let now = ClockOffset.bootLessMonotonic()
          let hasSlept = slept.withLock { slept in
            defer { slept = now }
            return now - slept >= .milliseconds(100)
          }
          scheduler.clockChanged(clockReference, slept: hasSlept)
          waking.clockChanged()
          scheduler.raise(hasSlept ? HostEvents.resumed : HostEvents.clockSet)
        }, failed: { log.error("changes of the clock are no longer noticed: \($0)") })
    } catch {
      log.error("changes of the clock are not noticed: \(error)")
      return nil
    }
  }

  private static func fileWatches(_ events: FileEvents, _ watched: Guarded<Watched>, _ log: Logger) -> FileWatches? {
    do {
      return try FileWatches(
        changed: { path in
          let (own, isRequested) = watched.withLock { ($0.own[path] ?? [], $0.requested.contains(path)) }
          for changed in own { changed() }
          if isRequested || own.isEmpty { events.changed(path) }
        },
        failed: { log.error("files are not watched from now on: \($0)") })
    } catch {
      log.error("files are not watched: \(error)")
      return nil
    }
  }

  /// Returns immediately.
  func receive(_ notice: Scheduler.Notice) {
    switch notice {
    case .conditionsAwaited(let awaited): conditions.setInterest(awaited)
    case .wakeAwaited(let time): waking.set(time)
    case .filesAwaited(let paths): watch { $0.requested = paths }
    case .storeRecovered: fileEvents.storeRecovered()
    default: break
    }
  }

  /// Calls `changed` on a thread of the watches, once the file at an absolute path is watched and whenever it may have changed.
  func watch(_ path: String, changed: @escaping @Sendable () -> Void) {
    watch {
      $0.own[path, default: []].append(changed)
      $0.fresh.append((path, changed))
    }
  }

  private func watch(_ change: (inout sending Watched) -> Void) {
    let log = log
    let paths = watched.withLock { watched in
      change(&watched)
      return watched.requested.union(watched.own.keys)
    }
    worker.set(paths) { [files, watched] paths in
      guard let files else { return }
      for (path, problem) in files.watch(paths).sorted(by: { $0.key < $1.key }) { log.warning("\(path) is not watched: \(problem)") }
      let fresh = watched.withLock { watched in
        let fresh = watched.fresh.filter { paths.contains($0.path) }
        watched.fresh.removeAll { paths.contains($0.path) }
        return fresh.map(\.changed)
      }
      for changed in fresh { changed() }
    }
  }

  /// Ends all watches; nothing is reported afterwards.
  func stop() {
    worker.stop()
    clocks?.stop()
    files?.stop()
    conditions.stop()
  }
}

/// Applies the latest set of files to watch on its own thread, because looking for files may block.
private final class WatchQueue: @unchecked Sendable {  // reason: everything is touched with `monitor` held
  private let monitor = Monitor()
  private var wanted: (paths: Set<String>, body: @Sendable (Set<String>) -> Void)?
  private var isOver = false
  private var hasEnded = false

  init() throws(HostThread.Failure) {
    try HostThread.start("file-watches") { [self] in
      while let next = next() { next.body(next.paths) }
      monitor.locked {
        hasEnded = true
        monitor.broadcast()
      }
    }
  }

  func set(_ paths: Set<String>, body: @escaping @Sendable (Set<String>) -> Void) {
    monitor.locked {
      wanted = (paths, body)
      monitor.broadcast()
    }
  }

  func stop() {
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while !hasEnded { monitor.wait() }
    }
  }

  private func next() -> (paths: Set<String>, body: @Sendable (Set<String>) -> Void)? {
    monitor.locked {
      while wanted == nil, !isOver { monitor.wait() }
      defer { wanted = nil }
      return isOver ? nil : wanted
    }
  }
}
