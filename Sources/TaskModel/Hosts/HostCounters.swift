/// A host's counters since its start.
public struct HostCounters: Sendable, Hashable {
  /// Events that the host received, including those that an event socket had to drop.
  public var eventsReceived: UInt64
  /// Requests that events made due.
  public var eventsWoken: UInt64
  /// Requests for which an event was merged into an upcoming run.
  public var eventsMerged: UInt64
  /// Events that no request waited for, and datagrams that event sockets did not record because there were too many at once or they were
  /// too long.
  public var eventsDropped: UInt64
  /// Log lines dropped because the reader was too slow or they could not be written.
  public var logLinesDropped: UInt64
  /// Execution assertions refused because too many were held.
  public var assertionsRefused: UInt64

  /// Creates counters.
  public init(
    eventsReceived: UInt64 = 0, eventsWoken: UInt64 = 0, eventsMerged: UInt64 = 0, eventsDropped: UInt64 = 0, logLinesDropped: UInt64 = 0,
    assertionsRefused: UInt64 = 0
  ) {
    self.eventsReceived = eventsReceived
    self.eventsWoken = eventsWoken
    self.eventsMerged = eventsMerged
    self.eventsDropped = eventsDropped
    self.logLinesDropped = logLinesDropped
    self.assertionsRefused = assertionsRefused
  }
}
