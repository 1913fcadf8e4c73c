/// The sizes that the plugin contract fixes.
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
  /// Log lines kept with a run.
  public static let keptLogLines = 100
  /// Losses in a row that fail a request.
  public static let lossesInARow = 5
  /// Priorities, low to high.
  public static let priorities = -10...10
  /// Tags of a request.
  public static let tags = 32
  /// Pending requests that a plugin is shown by one call.
  public static let pendingVisited = 1000
  /// Handlers that a plugin may let run at once.
  public static let concurrentRuns = 1024
}
