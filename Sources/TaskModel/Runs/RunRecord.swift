/// One run of a request.
public struct RunRecord: Sendable, Hashable {
  /// Its id.
  public var id: RunID
  /// Whose run.
  public var request: RequestID
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// 1 for a request's first run, one more for each attempt spent.
  public var attempt: Int
  /// When the run was recorded as started.
  public var started: WallTime
  /// When its end was recorded; nil while it runs.
  public var ended: WallTime?
  /// How it ended; nil while it runs.
  public var outcome: RunOutcome?
  /// What the handler and the host say about it.
  public var report: RunReport

  /// How long it took, by the monotonic clock; nil: it has not ended, or its handler was never called, or that is not known. A run of an
  /// older version has the difference of its times.
  public var duration: Duration? {
    ended.map { report.handlerTime ?? max(.zero, $0 - started) }
  }

  /// Whether its time was up: its budget was spent, or its progress stalled. It may have returned in its grace, with any result. One that
  /// was cancelled, replaced, or interrupted by a condition or a shutdown did not expire.
  ///
  /// - Source: semantics.md, "How a run ends, and what its request does then".
  public var isExpired: Bool { outcome == .expired || report.stopReason == .budget || report.stopReason == .stalled }

  /// A record as given.
  public init(
    id: RunID, request: RequestID, identifier: TaskIdentifier, attempt: Int, started: WallTime, ended: WallTime? = nil,
    outcome: RunOutcome? = nil, report: RunReport = RunReport()
  ) {
    self.id = id
    self.request = request
    self.identifier = identifier
    self.attempt = attempt
    self.started = started
    self.ended = ended
    self.outcome = outcome
    self.report = report
  }
}

/// What is known of a run besides its outcome.
public struct RunReport: Sendable, Hashable {
  /// Why it was asked to stop; nil: it was not.
  public var stopReason: StopReason?
  /// Whether it was stopped by force.
  public var forced = false
  /// How far the stop had to go; nil: it was not asked to stop.
  public var stopStage: StopStage?
  /// The handler's sentence for the operator, or the host's.
  public var message: String?
  /// The handler's output; at most ``Limits/payloadBytes``.
  public var output: [UInt8] = []
  /// The last progress reported.
  public var progress: RunProgress?
  /// What `retry_after` asked for.
  public var retryAfter: Duration?
  /// When the handler was called; nil: it never was, or that is not known.
  public var began: WallTime?
  /// How long the handler's call took, on the monotonic clock.
  public var handlerTime: Duration?
  /// Processor time of the run's thread.
  public var cpuTime: Duration?
  /// The most memory its worker process had resident by the end of the run, in bytes; nil: not known (thread isolation).
  public var peakMemory: Int?
  /// What killed it or where it hung: the signal and the stack, a line each, control characters escaped; nil: nothing of the kind.
  public var trouble: String?
  /// Which mishap of a worker process ended it; runs that one mishap ended share the number, so that it is held against the plugin once.
  /// Not recorded.
  public var incident: UInt64?
  /// The last log lines, oldest first; at most ``Limits/keptLogLines``.
  public var log: [LogLine] = []

  /// Nothing known.
  public init() {}
}

/// How far the host had to go to stop a run.
public enum StopStage: String, Sendable, CaseIterable {
  /// It was asked to stop, and its handler returned within its grace.
  case asked
  /// Its grace ran out in a thread of the host: the thread was left behind, since a thread cannot be ended.
  case abandoned
  /// Its grace ran out, or its grace was cut short, and its worker process was killed.
  case killed
}

/// How far a run has come.
public struct RunProgress: Sendable, Hashable {
  /// Units done; never above `total` unless that is 0.
  public var completed: UInt64
  /// Units in all; 0: unknown.
  public var total: UInt64

  /// That far; `completed` above a known `total` counts as `total`.
  public init(completed: UInt64, total: UInt64) {
    self.completed = total == 0 ? completed : min(completed, total)
    self.total = total
  }
}

/// A line in a run's log.
public struct LogLine: Sendable, Hashable {
  /// How much it matters; names and order as swift-log's.
  public enum Level: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error
  }

  /// Where a line was written that was not logged.
  public enum Stream: String, Sendable, CaseIterable {
    /// Standard output.
    case stdout
    /// Standard error.
    case stderr
  }

  /// When it was written.
  public var time: WallTime
  /// How much it matters.
  public var level: Level
  /// The text, a line of ``PluginText``.
  public var message: String
  /// Where the plugin's process wrote it; nil: it was logged, by the plugin or by the host about it.
  public var stream: Stream?

  /// A line as given.
  public init(time: WallTime, level: Level, message: String, stream: Stream? = nil) {
    self.time = time
    self.level = level
    self.message = message
    self.stream = stream
  }
}
