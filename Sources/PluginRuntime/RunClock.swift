package import HostThreads
package import TaskModel

/// The clock that runs live by: the machine's, or the virtual one of a host for tests, which also sees what runs do.
package protocol RunClock: Sendable {
  /// The moment, on the clock of budgets and waits. Asked with locks held: waits for nothing.
  var now: MonotonicTime { get }
  /// Whether log lines and reports of progress are dropped when they come too fast.
  var limitsReports: Bool { get }
  /// Waits on the run's monitor, which the calling thread holds, until someone broadcasts or `end` comes. May return earlier.
  func wait(_ monitor: Monitor, until end: MonotonicTime, for run: LiveRun)
  /// What calls `work` when the time of a run has come.
  func deadlines(_ work: @escaping @Sendable (LiveRun) -> Void) throws(HostThread.Failure) -> any RunDeadlines
  /// A thread of the run calls the host; may keep the thread forever.
  func enters(_ run: LiveRun)
  /// The run has changed what it will report.
  func changed(_ report: RunReport, of run: LiveRun)
}

/// Who checks runs when their time has come.
package protocol RunDeadlines: Sendable {
  /// Ensures that `run` is checked at `time` at the latest. An earlier armed time stays; a run that is over is ignored.
  ///
  /// The armed time is cleared before the run is checked, so the check can arm a later time.
  func arm(_ run: LiveRun, at time: MonotonicTime)
  /// Forgets a run that is over: nothing arms it again.
  func disarm(_ run: LiveRun)
  /// No more checks begin.
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
