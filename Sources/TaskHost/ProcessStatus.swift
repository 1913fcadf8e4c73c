public import TaskModel

/// What the process around a host adds to its status.
public struct ProcessStatus: Sendable {
  /// taskhost's version.
  public var version: String
  /// What of the process needs a person.
  public var problems: [Problem]
  /// Events that were dropped before the host was told of them.
  public var eventsDropped: UInt64
  /// Lines of the log that nobody read in time, or that could not be written.
  public var logLinesDropped: UInt64

  /// A status as given.
  public init(version: String, problems: [Problem], eventsDropped: UInt64, logLinesDropped: UInt64) {
    self.version = version
    self.problems = problems
    self.eventsDropped = eventsDropped
    self.logLinesDropped = logLinesDropped
  }
}
