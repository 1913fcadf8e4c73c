public import TaskModel

/// The additions of the host's process to the host's status.
public struct ProcessStatus: Sendable {
  /// The version of taskhost.
  public var version: String
  /// Problems of the process.
  public var problems: [Problem]
  /// The number of events dropped before they reached the host.
  public var eventsDropped: UInt64
  /// The number of log lines that were not read in time, or could not be written.
  public var logLinesDropped: UInt64

  /// Creates a status.
  public init(version: String, problems: [Problem], eventsDropped: UInt64, logLinesDropped: UInt64) {
    self.version = version
    self.problems = problems
    self.eventsDropped = eventsDropped
    self.logLinesDropped = logLinesDropped
  }
}
