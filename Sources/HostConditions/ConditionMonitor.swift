import Glibc
public import HostThreads
public import TaskModel

/// Monitors the conditions of the machine and reports changes.
///
/// It observes only conditions of interest: without interest, its thread sleeps, no socket is open and nothing is read. An unobserved
/// condition does not count as held. A condition that the machine does not report does, with the reason in the report.
public final class ConditionMonitor: Sendable {
  private let shared: ConditionShared
  private let clock: any HostClock
  private let thread: Guarded<pthread_t?>

  /// Why a monitor could not be created.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What happened and what to do.
    public let description: String
  }

  /// Creates a monitor without interest in any condition.
  ///
  /// - Parameters:
  ///   - clock: Its monotonic clock is used for hysteresis, its calendar for reports.
  ///   - changed: Called on the monitor's thread after each change of the report other than its sentences, one call at a time. It may call
  ///     everything here except ``stop()`` and ``look(within:)``.
  public init(
    settings: ConditionSettings = ConditionSettings(), sources: ConditionSources, clock: any HostClock = SystemClock(),
    changed: @escaping @Sendable (ConditionReport) -> Void
  ) throws(Failure) {
    guard let shared = ConditionShared(core: ConditionCore(settings: settings, at: clock.wallTime)) else {
      throw Failure(description: "the conditions cannot be observed: eventfd: \(TextFile.reason(errno)); raise the limit of open files")
    }
    self.shared = shared
    self.clock = clock
    let thread = Guarded<pthread_t?>(nil)
    self.thread = thread
    let published = shared.core { $0.report }
    do {
      try HostThread.start("conditions") {
        thread.withLock { $0 = pthread_self() }
        ConditionLoop(
          shared: shared, published: published, settings: settings, sources: sources, clock: clock, changed: changed
        ).run()
      }
    } catch { throw Failure(description: "the conditions cannot be observed: \(error.description)") }
  }

  deinit { shared.stop() }

  /// Sets the conditions that requests wait for or runs depend on; replaces the previous set.
  ///
  /// Returns immediately. A new condition does not hold until it has been read, which begins now; `changed` reports it.
  public func setInterest(_ conditions: Conditions) {
    let wall = clock.wallTime
    let isNew = shared.core { core in
      let isNew = core.interest != conditions
      core.setInterest(conditions, at: wall)
      return isNew
    }
    if isNew { shared.wake() }
  }

  /// Overrides whether each of `conditions` holds, until cleared. Without network, unmetered does not hold either, unless it is overridden
  /// itself.
  ///
  /// - Parameter since: When that was decided, for reports; nil means now.
  public func override(_ conditions: Conditions, holds: Bool, since: WallTime? = nil) { setOverride(conditions, holds, since: since) }

  /// Lets the machine decide again.
  public func clearOverride(_ conditions: Conditions) { setOverride(conditions, nil) }

  /// The current state, from memory. It does not cover conditions without interest: see ``look(within:)``.
  public var report: ConditionReport { shared.core { $0.report } }

  /// The current state including a fresh reading of conditions without interest, for people who ask.
  ///
  /// Waits at most `patience` for the monitor's thread; after that it returns ``report``.
  public func look(within patience: Duration = .seconds(2)) -> ConditionReport {
    let look = Awaited<ConditionReport>()
    guard !isOnThread, shared.ask(look) else { return report }
    return look.wait(until: SystemClock.now + patience) ?? report
  }

  /// Ends the thread and waits for it. `changed` is not called afterwards.
  public func stop() {
    shared.stop()
    if !isOnThread { shared.end.wait() }
  }

  /// What the thread did so far.
  package var counters: ConditionCounters { shared.counters }

  private func setOverride(_ conditions: Conditions, _ holds: Bool?, since: WallTime? = nil) {
    let wall = clock.wallTime
    shared.core { $0.override(conditions, holds: holds, since: since, at: wall) }
    shared.wake()
  }

  private var isOnThread: Bool { thread.withLock { thread in thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }
}
