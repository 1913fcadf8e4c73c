/// Limits for everything that comes from outside: those of the plugin contract and those of a request.
public enum Limits {
  /// Bytes of a request's payload and of a run's output.
  public static let payloadBytes = 65_536
  /// Bytes of a typed handler's packed arguments: a payload's bytes, plus the packing overhead of 32 arguments.
  public static let argumentBytes = payloadBytes + 512
  /// Bytes of a typed handler's signature.
  public static let signatureBytes = 4096
  /// Bytes of a state value and of a checkpoint.
  public static let stateValueBytes = 1_048_576
  /// Bytes of a state key and of a unique key.
  public static let keyBytes = 256
  /// Bytes of a path.
  public static let pathBytes = 4095
  /// Files in one question about open files.
  public static let openFiles = 16_384
  /// Bytes of all paths in one question about open files.
  public static let openFilePathBytes = 2 * 1_048_576
  /// Idempotency keys of a plugin that are on record. Each stays there as long as its request, and at least as long as the history.
  public static let idempotencyKeys = 10_000
  /// Unique windows of an identifier that are open while a plugin may open another.
  public static let uniqueWindows = 10_000
  /// State keys of an identifier.
  public static let stateKeys = 10_000
  /// Bytes of all state values of an identifier.
  public static let stateBytes = 64 * 1_048_576
  /// Bytes of a log line and of a message. Longer ones are cut and marked.
  public static let logMessageBytes = 8192
  /// Bytes of a sentence by the host about a plugin, which can contain text from the plugin.
  public static let sentenceBytes = 2 * logMessageBytes
  /// Bytes of a stack, or of a crash report.
  public static let stackBytes = 65_536
  /// Log lines that a run or a launch may write in a burst.
  public static let logBurst = 1000
  /// Log lines per second that a run or a launch may write on average.
  public static let logRate = 100
  /// Progress reports of a run that are forwarded in a burst.
  public static let progressBurst = 100
  /// Progress reports of a run that are forwarded per second on average.
  public static let progressRate = 50
  /// Bytes of a progress unit. A longer one is cut and marked.
  public static let progressUnitBytes = 32
  /// Bytes of a progress message. A longer one is cut and marked.
  public static let progressMessageBytes = 512
  /// Spans of a run.
  public static let runSpans = 128
  /// The name of a span.
  public static let spanNameBytes = 128
  /// The attributes of a span, as JSON.
  public static let spanAttributeBytes = 1024
  /// The least time between two reports of a run's work. Its last counts come with its end.
  public static let workInterval = Duration.milliseconds(250)
  /// Log lines kept with a run.
  public static let keptLogLines = 100
  /// The number of consecutive losses at which a request fails.
  public static let lossesInARow = 5
  /// Priorities, low to high.
  public static let priorities = -10...10
  /// Tags of a request.
  public static let tags = 32
  /// Requests that one request may wait for.
  public static let predecessors = 100
  /// Named resources of a request.
  public static let resources = 16
  /// Tokens that a request takes of one resource.
  public static let resourceTokens = 1...1_000_000
  /// Attempts of a request, whatever the source of its retry policy.
  public static let attempts = 1...1000
  /// The first and the longest delay of a retry policy, whatever its source. Without a delay, a failing request would run back to back.
  public static let retryDelays: ClosedRange<Duration> = .milliseconds(100) ... .seconds(30 * 86_400)
  /// Missed occurrences of one request that may be caught up.
  public static let missedRuns = 1...10_000
  /// The longest interval, flex, quiet, delay and window: ten years.
  public static let longestDuration = Duration.seconds(3660 * 86_400)
  /// Submissions and cancellations of one launch, together.
  public static let launchChanges = 1000
  /// Pending requests that one call shows a plugin.
  public static let pendingVisited = 1000
  /// Execution assertions that are held at once.
  public static let assertions = 1000
  /// Execution assertions that the clients of one user hold at once: nobody can leave the others without any.
  public static let userAssertions = 500
  /// Execution assertions with a process that are held at once. The host needs a descriptor for each.
  public static let watchedAssertions = 128
  /// Execution assertions with a process that the clients of one user hold at once.
  public static let userWatchedAssertions = 64
  /// Execution assertions that the runs of one handler hold at once.
  public static let handlerAssertions = 32
  /// Bytes of an assertion's name.
  public static let assertionNameBytes = 256
  /// Bytes of an assertion's reason.
  public static let assertionReasonBytes = 1024
  /// How long an assertion may be held: what a foreground service needs to end cleanly, and what an operator who shuts down still waits for.
  public static let assertionLengths: ClosedRange<Duration> = .milliseconds(1) ... .seconds(600)
  /// How long an assertion is held if its holder does not say: as `beginBackgroundTask`.
  public static let assertionPreset = Duration.seconds(30)
  /// Pauses that are in force at once.
  public static let pauses = 1000
  /// Concurrent runs that a plugin may allow.
  public static let concurrentRuns = 1024
}
