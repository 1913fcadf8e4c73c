/// What the runs of one identifier have come to since the host's start.
public struct TaskMetrics: Sendable, Hashable {
  /// How a run ended.
  public struct Ending: Sendable, Hashable {
    /// The outcome.
    public var outcome: RunOutcome
    /// Why the run was asked to stop; nil if it was not.
    public var stopReason: StopReason?

    /// Creates an ending.
    public init(_ outcome: RunOutcome, _ stopReason: StopReason? = nil) {
      self.outcome = outcome
      self.stopReason = stopReason
    }
  }

  /// The number of runs that ended in each way.
  public private(set) var endings: [Ending: UInt64] = [:]
  /// The number of runs that the host stopped by force.
  public private(set) var forcedStops: UInt64 = 0
  /// How long the handler's calls took.
  public private(set) var durations = DurationHistogram()
  /// How long after their due times the runs began.
  public private(set) var queueLatency = DurationHistogram()
  /// The end of the last successful run since the host's start; nil if there was none.
  public private(set) var lastSuccess: WallTime?

  /// Creates metrics without runs.
  public init() {}

  /// Counts a run that has ended; a live one is ignored.
  public mutating func add(_ run: RunRecord) {
    guard let outcome = run.outcome else { return }
    endings[Ending(outcome, run.report.stopReason), default: 0] &+= 1
    if run.report.forced { forcedStops &+= 1 }
    if run.report.began != nil, let duration = run.duration { durations.add(duration) }
    if let began = run.report.began, let due = run.report.due { queueLatency.add(began - due) }
    if outcome.isSuccess { lastSuccess = max(lastSuccess ?? .init(unixMilliseconds: .min), run.ended ?? run.started) }
  }
}
