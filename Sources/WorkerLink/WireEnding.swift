public import TaskModel

/// A run that ended, as it travels.
public struct WireEnding: Sendable, Hashable {
  /// The run.
  public var run: RunID
  /// How it ended: `returned` or `forced`. What only a host can judge (`crashed`, `lost`) is refused when it is decoded.
  public var ending: RunEnding
  /// What is known of it. `log` and `incident` do not travel: the lines have been sent as ``WorkerMessage/log(_:_:)``, mishaps are counted
  /// by the host; both are empty when decoded.
  public var report: RunReport

  /// An ending as given.
  public init(run: RunID, ending: RunEnding, report: RunReport) {
    self.run = run
    self.ending = ending
    self.report = report
  }
}
