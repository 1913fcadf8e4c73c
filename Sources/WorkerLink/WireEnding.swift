public import TaskModel

/// The ending of a run, as it travels.
public struct WireEnding: Sendable, Hashable {
  /// The run.
  public var run: RunID
  /// `returned` or `forced`. The decoder refuses endings that only a host can determine (`crashed`, `lost`).
  public var ending: RunEnding
  /// The run's report. `log` and `incident` do not travel and are empty when decoded: the lines were sent as ``WorkerMessage/log(_:_:)``, and
  /// the host counts incidents.
  public var report: RunReport

  /// Creates an ending.
  public init(run: RunID, ending: RunEnding, report: RunReport) {
    self.run = run
    self.ending = ending
    self.report = report
  }
}
