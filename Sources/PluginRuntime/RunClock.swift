package import HostThreads
package import TaskModel

/// The clock of runs: the machine's, or a test host's virtual clock, which also observes runs.
package protocol RunClock: Sendable {
  /// The time on the clock of budgets and waits. Called with locks held, so it must not block.
  var now: MonotonicTime { get }
  /// Whether excessive log lines and progress reports are dropped.
  var limitsReports: Bool { get }
  /// Waits on the run's monitor, which the calling thread holds, until someone broadcasts or `end` comes. May return earlier.
  func wait(_ monitor: Monitor, until end: MonotonicTime, for run: LiveRun)
  /// Calls `work` when the time of a run has come.
  func deadlines(_ work: @escaping @Sendable (LiveRun) -> Void) throws(HostThread.Failure) -> any RunDeadlines
  /// Called when a thread of the run calls the host; may never return.
  func enters(_ run: LiveRun)
  /// Called when the run's report has changed.
  func changed(_ report: RunReport, of run: LiveRun)
}

/// Checks runs when their time has come.
package protocol RunDeadlines: Sendable {
  /// Ensures that `run` is checked at `time` at the latest. An earlier armed time stays; a run that is over is ignored.
  ///
  /// The armed time is cleared before the run is checked, so the check can arm a later time.
  func arm(_ run: LiveRun, at time: MonotonicTime)
  /// Forgets a run that is over: nothing arms it again.
  func disarm(_ run: LiveRun)
  /// Begins no more checks.
  func end()
}

/// The machine's clock, with threads that wait for deadlines.
struct MachineClock: RunClock {
  var now: MonotonicTime { SystemClock.now }
  var limitsReports: Bool { true }
  func wait(_ monitor: Monitor, until end: MonotonicTime, for run: LiveRun) { monitor.wait(until: end) }
  func deadlines(_ work: @escaping @Sendable (LiveRun) -> Void) throws(HostThread.Failure) -> any RunDeadlines {
    try DeadlineThreads(work: work)
  }
  func enters(_ run: LiveRun) {}
  func changed(_ report: RunReport, of run: LiveRun) {}
}
