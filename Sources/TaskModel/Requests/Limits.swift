/// How much there may be of everything that comes from outside: what the plugin contract fixes, and what a request may have.
public enum Limits {
  /// Bytes of a request's payload and of a run's output.
  public static let payloadBytes = 65_536
  /// Bytes of a typed handler's arguments as they travel: a payload's, and what packing adds for each of 32 arguments.
  public static let argumentBytes = payloadBytes + 512
  /// Bytes of a typed handler's signature.
  public static let signatureBytes = 4096
  /// Bytes of a state value and of a checkpoint.
  public static let stateValueBytes = 1_048_576
  /// Bytes of a state key and of a unique key.
  public static let keyBytes = 256
  /// Bytes of a path.
  public static let pathBytes = 4095
  /// Files of one question about open files.
  public static let openFiles = 16_384
  /// Bytes of all their paths.
  public static let openFilePathBytes = 2 * 1_048_576
  /// State keys of an identifier.
  public static let stateKeys = 10_000
  /// Bytes of all state values of an identifier.
  public static let stateBytes = 64 * 1_048_576
  /// Bytes of a log line and of a message; longer ones are cut and marked.
  public static let logMessageBytes = 8192
  /// Bytes of a sentence of the host about a plugin, which may have the plugin's words in it.
  public static let sentenceBytes = 2 * logMessageBytes
  /// Bytes of a stack, or of what is told of a crash.
  public static let stackBytes = 65_536
  /// Log lines that a run, or a launch, may write at once.
  public static let logBurst = 1000
  /// Log lines a second that a run, or a launch, may write in the long run.
  public static let logRate = 100
  /// Reports of progress of a run that are told at once.
  public static let progressBurst = 100
  /// Reports of progress of a run that are told a second in the long run.
  public static let progressRate = 50
  /// Log lines kept with a run.
  public static let keptLogLines = 100
  /// Losses in a row that fail a request.
  public static let lossesInARow = 5
  /// Priorities, low to high.
  public static let priorities = -10...10
  /// Tags of a request.
  public static let tags = 32
  /// Requests that one may wait for.
  public static let predecessors = 100
  /// Named resources of a request.
  public static let resources = 16
  /// Tokens that a request takes of one resource.
  public static let resourceTokens = 1...1_000_000
  /// Attempts of a request, wherever its retry policy comes from.
  public static let attempts = 1...1000
  /// The first and the longest delay of a retry policy, wherever it comes from: without one, what fails would run back to back.
  public static let retryDelays: ClosedRange<Duration> = .milliseconds(100) ... .seconds(30 * 86_400)
  /// Missed occurrences of one request that are run.
  public static let missedRuns = 1...10_000
  /// The longest interval, flex, quiet, delay and window: ten years.
  public static let longestDuration = Duration.seconds(3660 * 86_400)
  /// Pending requests that a plugin is shown by one call.
  public static let pendingVisited = 1000
  /// Handlers that a plugin may let run at once.
  public static let concurrentRuns = 1024
}
