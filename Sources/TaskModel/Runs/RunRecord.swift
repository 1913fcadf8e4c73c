/// One run of a request.
public struct RunRecord: Sendable, Hashable {
  /// The run's id.
  public var id: RunID
  /// The request.
  public var request: RequestID
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// The host that runs it, by its name in its fleet; nil for a request that is not the fleet's.
  public var host: String?
  /// 1 for a request's first run, plus one for each attempt spent.
  public var attempt: Int
  /// When the run was recorded as started.
  public var started: WallTime
  /// When the end was recorded; nil while the run is live.
  public var ended: WallTime?
  /// How the run ended; nil while it is live.
  public var outcome: RunOutcome?
  /// What the handler and the host say about the run.
  public var report: RunReport

  /// The duration of the run on the monotonic clock; nil if it has not ended, its handler was never called, or the time is unknown. For a
  /// run that an older version recorded, the difference between its end and its start.
  public var duration: Duration? {
    ended.map { report.handlerTime ?? max(.zero, $0 - started) }
  }

  /// Whether the run used up its budget or its progress stalled. It may still have returned within its grace, with any result. A run that
  /// was cancelled, replaced, or interrupted by a condition or a shutdown before its time was up did not expire.
  public var isExpired: Bool { outcome == .expired || report.stopReason == .budget || report.stopReason == .stalled }

  /// The run as a listing has it, without output, log and trouble.
  public var listed: RunRecord {
    var run = self
    (run.report.output, run.report.log, run.report.trouble) = ([], [], nil)
    return run
  }

  /// Creates a record.
  public init(
    id: RunID, request: RequestID, identifier: TaskIdentifier, host: String? = nil, attempt: Int, started: WallTime,
    ended: WallTime? = nil, outcome: RunOutcome? = nil, report: RunReport = RunReport()
  ) {
    self.id = id
    self.request = request
    self.identifier = identifier
    self.host = host
    self.attempt = attempt
    self.started = started
    self.ended = ended
    self.outcome = outcome
    self.report = report
  }
}

/// What is known about a run besides its outcome.
public struct RunReport: Sendable, Hashable {
  /// Why the run was asked to stop, as its handler was told; nil if it was not. A later reason does not replace it.
  public var stopReason: StopReason?
  /// Whether the host stopped the run by force.
  public var forced = false
  /// How the stop ended; nil if the run was not asked to stop.
  public var stopStage: StopStage?
  /// A sentence for the operator, from the handler or the host.
  public var message: String?
  /// The handler's output; at most ``Limits/payloadBytes``.
  public var output: [UInt8] = []
  /// The last progress reported.
  public var progress: RunProgress?
  /// What the handler counted; nil if it counted nothing.
  public var work: RunWork?
  /// What `retry_after` asked for.
  public var retryAfter: Duration?
  /// When the handler was called; nil if it never was or the time is unknown.
  public var began: WallTime?
  /// How long the handler's call took, on the monotonic clock.
  public var handlerTime: Duration?
  /// Processor time of the run's thread.
  public var cpuTime: Duration?
  /// The peak resident memory of the worker process by the end of the run, in bytes; nil if unknown (thread isolation).
  public var peakMemory: Int?
  /// What killed the run or where it hung: the signal and the stack, one line each, control characters escaped; nil if neither happened.
  public var trouble: String?
  /// The number of the worker incident that ended the run. All runs that one incident ended share the number, so that it counts against the
  /// plugin once. Not stored.
  public var incident: UInt64?
  /// When the run was due; nil if unknown. Not stored: only the end of a run tells it.
  public var due: WallTime?
  /// The run's trace; nil if its request was submitted without one, and the host makes none. Not stored: it follows from the request.
  public var trace: RunTrace?
  /// What the handler measured for its trace, at most ``Limits/runSpans``. Not stored: only the end of a run tells it.
  public var spans: [RunSpan] = []
  /// The last log lines, oldest first; at most ``Limits/keptLogLines``.
  public var log: [LogLine] = []

  /// Creates an empty report.
  public init() {}

  /// Bytes of the output, the log and the texts.
  public var valueBytes: Int {
    output.count + (message?.utf8.count ?? 0) + (trouble?.utf8.count ?? 0) + log.reduce(0) { $0 + $1.message.utf8.count }
  }
}

/// How the host stopped a run.
public enum StopStage: String, Sendable, CaseIterable {
  /// The handler returned within its grace.
  case asked
  /// The grace ran out in a thread of the host. The host abandoned the thread, because a thread cannot be killed.
  case abandoned
  /// The grace ran out or was cut short, and the host killed the worker process.
  case killed
}

/// A line in a run's log.
public struct LogLine: Sendable, Hashable {
  /// The log level, with the names and order of swift-log.
  public enum Level: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error
  }

  /// The stream of a line that was written instead of logged.
  public enum Stream: String, Sendable, CaseIterable {
    /// Standard output.
    case stdout
    /// Standard error.
    case stderr
  }

  /// When the line was written.
  public var time: WallTime
  /// The log level.
  public var level: Level
  /// The text, a ``PluginText`` line.
  public var message: String
  /// The stream to which the plugin's process wrote the line; nil if the plugin or the host logged it.
  public var stream: Stream?

  /// Creates a line.
  public init(time: WallTime, level: Level, message: String, stream: Stream? = nil) {
    self.time = time
    self.level = level
    self.message = message
    self.stream = stream
  }
}
