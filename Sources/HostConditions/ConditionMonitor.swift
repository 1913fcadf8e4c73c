import Glibc
public import HostThreads
public import TaskModel

/// Monitors the conditions of the machine and reports changes.
///
/// It observes only conditions of interest: without interest, its thread sleeps, no socket is open and nothing is read. Unobserved
/// conditions do not count as held. Conditions that the machine does not report do, and the report says why.
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
  ///   - clock: Provides monotonic time for hysteresis and calendar time for reports.
  ///   - changed: Called on the monitor's thread after each change of the report, except in its sentences, one call at a time. It may call
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

  /// Sets the conditions that requests wait for or runs depend on, replacing the previous set.
  ///
  /// Returns at once. A new condition does not hold until its first reading, which starts now; `changed` reports it.
  public func setInterest(_ conditions: Conditions) {
    let wall = clock.wallTime
    let isNew = shared.core { core in
      let isNew = core.interest != conditions
      core.setInterest(conditions, at: wall)
      return isNew
    }
    if isNew { shared.wake() }
  }

  /// Overrides whether each of `conditions` holds, until cleared. If network is overridden to not hold, unmetered does not hold
  /// either, unless it is overridden itself.
  ///
  /// - Parameter since: When the override was decided, for reports; nil means now.
  public func override(_ conditions: Conditions, holds: Bool, since: WallTime? = nil) { setOverride(conditions, holds, since: since) }

  /// Ends the override.
  public func clearOverride(_ conditions: Conditions) { setOverride(conditions, nil) }

  /// The current state from memory, without conditions of no interest; see ``look(within:)``.
  public var report: ConditionReport { shared.core { $0.report } }

  /// The current state, with fresh readings of conditions without interest.
  ///
  /// Waits for the monitor's thread for at most `patience`, and then returns ``report``.
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

  /// Counts of the thread's work.
  package var counters: ConditionCounters { shared.counters }

  private func setOverride(_ conditions: Conditions, _ holds: Bool?, since: WallTime? = nil) {
    let wall = clock.wallTime
    shared.core { $0.override(conditions, holds: holds, since: since, at: wall) }
    shared.wake()
  }

  private var isOnThread: Bool { thread.withLock { thread in thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }
}
