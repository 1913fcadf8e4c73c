import Glibc
public import HostThreads
public import TaskModel

/// Knows which conditions of the machine hold, and tells when that changes.
///
/// It observes what somebody is interested in, and nothing else: without interest its thread sleeps, no socket is open, nothing is read.
/// What is not observed does not count as held; what the machine does not tell does, with the reason in the report.
public final class ConditionMonitor: Sendable {
  private let shared: ConditionShared
  private let clock: any HostClock
  private let thread: Guarded<pthread_t?>

  /// A monitor that could not be made.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What was seen and what to do.
    public let description: String
  }

  /// Begins with interest in nothing.
  ///
  /// - Parameters:
  ///   - clock: Its monotonic clock is the one of hysteresis, its calendar the one of reports. If it is not the machine's, call
  ///     `clockMoved` when it moves.
  ///   - changed: Called on the monitor's thread after each change of the report except for its sentences, never at once with itself. It
  ///   may call
  ///     everything here but ``stop()`` and ``look(within:)``.
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

  /// Says which conditions something waits for or runs by; replaces what was said before.
  ///
  /// Returns at once. What was of no interest before does not hold until it has been read, which begins now; `changed` tells of it.
  public func setInterest(_ conditions: Conditions) {
    let wall = clock.wallTime
    let isNew = shared.core { core in
      let isNew = core.interest != conditions
      core.setInterest(conditions, at: wall)
      return isNew
    }
    if isNew { shared.wake() }
  }

  /// Decides whether each of `conditions` holds, whatever the machine says, until it is cleared. Without network, unmetered does not hold
  /// either, unless it is overridden itself.
  ///
  /// - Parameter since: When that was decided, which reports give as the time since when it is so; nil means now.
  public func override(_ conditions: Conditions, holds: Bool, since: WallTime? = nil) { setOverride(conditions, holds, since: since) }

  /// Lets the machine decide again.
  public func clearOverride(_ conditions: Conditions) { setOverride(conditions, nil) }

  /// What is known now, from memory. What is of no interest is not known: see ``look(within:)``.
  public var report: ConditionReport { shared.core { $0.report } }

  /// The conditions that hold now, from memory.
  public func satisfied() -> Conditions { shared.core { $0.report.held } }

  /// What is known now, with a look at what is of no interest too, as it is at this moment: for people who ask.
  ///
  /// Waits for the monitor's thread, at most so long; then it is ``report``.
  public func look(within patience: Duration = .seconds(2)) -> ConditionReport {
    let look = ConditionLook()
    guard !isOnThread, shared.ask(look) else { return report }
    return look.wait(until: SystemClock.now + patience) ?? report
  }

  /// Ends the thread and waits for it: `changed` is not called any more.
  public func stop() {
    shared.stop()
    if !isOnThread { shared.waitForEnd() }
  }

  /// Lets the thread look at its clock again, which is not the machine's.
  package func clockMoved() { shared.wake() }

  /// What the thread did so far.
  package var counters: ConditionCounters { shared.counters }

  private func setOverride(_ conditions: Conditions, _ holds: Bool?, since: WallTime? = nil) {
    let wall = clock.wallTime
    shared.core { $0.override(conditions, holds: holds, since: since, at: wall) }
    shared.wake()
  }

  private var isOnThread: Bool { thread.withLock { thread in thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }
}
