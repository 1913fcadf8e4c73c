import HostConditions
import HostThreads
import HostWatches
import Logging
import TaskModel
import TaskScheduler

/// What the host learns of the machine by itself: its conditions, its clocks, the files that requests wait for.
final class MachineMonitor: Sendable {
  let conditions: ConditionMonitor
  /// What operators decided about the conditions; to be changed by the functions here alone.
  let overrides: ConditionOverrides
  private struct Watched {
    /// What requests wait for.
    var requested: Set<String> = []
    /// What the host itself does when a file changes.
    var own: [String: [@Sendable () -> Void]] = [:]
    /// Of these, what is to be done once the file is watched: it may have changed before.
    var fresh: [(path: String, changed: @Sendable () -> Void)] = []
  }

  private let log: Logger
  private let clocks: ClockWatch?
  private let files: FileWatches?
  private let watched: Guarded<Watched>
  private let worker: WatchQueue

  /// Begins to watch the machine, and to tell the scheduler when conditions change, the calendar is set, the machine wakes up, or a watched
  /// file changes.
  ///
  /// - Parameter directory: Its file of overrides is read; those in it are in force at once, and the log says so.
  init(
    _ configuration: HostConfiguration, _ directory: StateDirectory, _ scheduler: Scheduler, clock: any HostClock, log: Logger
  ) throws(HostFailure) {
    self.log = log
    var sources = ConditionSources(storage: configuration.stateDirectory)
    // What runs take does not count against `idle`.
    sources.ownLoad = { Double(scheduler.liveRunCount) }
    let settings = configuration.observedConditions
    do {
      conditions = try ConditionMonitor(settings: settings, sources: sources, clock: clock, changed: { scheduler.receive($0) })
    } catch { throw HostFailure(.temporary, error.description) }
    do { worker = try WatchQueue() } catch { throw HostFailure(.temporary, error.description) }
    clocks = Self.clockWatch(scheduler, log)
    let watched = Guarded(Watched())
    self.watched = watched
    files = Self.fileWatches(scheduler, watched, log)
    overrides = ConditionOverrides(path: directory.conditionOverrides) { log.warning("\($0)") }
    for override in overrides.all {
      conditions.override(override.condition, holds: override.holds, since: override.since)
      log.warning("\(override.problem.text)", metadata: ["since_unix_ms": "\(override.since.unixMilliseconds)"])
    }
    scheduler.receive(conditions.report)
  }

  /// Decides what counts as held until it is cleared, also by a later host. Blocks until it is kept.
  func override(_ decisions: [(condition: Conditions, holds: Bool)], at now: WallTime) throws(TextProblem) {
    try overrides.set(decisions, at: now) { inForce in
      for override in inForce { conditions.override(override.condition, holds: override.holds, since: override.since) }
    }
  }

  /// Lets the machine decide again. Blocks until it is kept.
  func clearOverrides(_ cleared: Conditions) throws(TextProblem) {
    try overrides.clear(cleared) { _ in conditions.clearOverride(cleared) }
  }

  /// What the clocks are to each other now.
  static var clockReference: ClockReference {
    let offset = ClockOffset.now()
    return ClockReference(boot: offset.bootID, offset: offset.wallLessBoot.wholeMilliseconds)
  }

  private static func clockWatch(_ scheduler: Scheduler, _ log: Logger) -> ClockWatch? {
    do {
      return try ClockWatch(
        changed: {
          log.notice("the clock was set, or the machine slept: planning anew")
          scheduler.clockChanged(clockReference)
        }, failed: { log.error("a clock that is set goes unnoticed from now on: \($0)") })
    } catch {
      log.error("a clock that is set goes unnoticed: \(error)")
      return nil
    }
  }

  private static func fileWatches(_ scheduler: Scheduler, _ watched: Guarded<Watched>, _ log: Logger) -> FileWatches? {
    do {
      return try FileWatches(
        changed: { path in
          let (own, isRequested) = watched.withLock { ($0.own[path] ?? [], $0.requested.contains(path)) }
          for changed in own { changed() }
          if isRequested || own.isEmpty { scheduler.notify(EventTrigger.filePrefix + path, payload: nil) { _ in } }
        },
        failed: { log.error("files are not watched from now on: \($0)") })
    } catch {
      log.error("files are not watched: \(error)")
      return nil
    }
  }

  /// What the scheduler waits for. Returns at once.
  func receive(_ notice: Scheduler.Notice) {
    switch notice {
    case .conditionsAwaited(let awaited): conditions.setInterest(awaited)
    case .filesAwaited(let paths): watch { $0.requested = paths }
    default: break
    }
  }

  /// Calls `changed` once the file at an absolute path is watched, and whenever it may have changed, on a thread of the watches. Returns at once.
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

  /// Ends all watching; nothing is told afterwards.
  func stop() {
    worker.stop()
    clocks?.stop()
    files?.stop()
    conditions.stop()
  }
}

/// Carries out the latest wish of which files to watch on a thread of its own: looking for them may block.
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
