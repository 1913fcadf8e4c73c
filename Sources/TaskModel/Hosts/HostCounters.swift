/// What a host has counted since it started.
public struct HostCounters: Sendable, Hashable {
  /// Events that the host was told of, those included that an event socket had to drop.
  public var eventsReceived: UInt64
  /// Requests that events made due.
  public var eventsWoken: UInt64
  /// Requests for which an event was merged into a run that was to come anyway.
  public var eventsMerged: UInt64
  /// Events that nothing waited for, and datagrams of event sockets that were not recorded: too many at once, or too long.
  public var eventsDropped: UInt64
  /// Log lines that were dropped because the reader was too slow or they could not be written.
  public var logLinesDropped: UInt64

  /// Counters as given.
  public init(
    eventsReceived: UInt64 = 0, eventsWoken: UInt64 = 0, eventsMerged: UInt64 = 0, eventsDropped: UInt64 = 0, logLinesDropped: UInt64 = 0
  ) {
    self.eventsReceived = eventsReceived
    self.eventsWoken = eventsWoken
    self.eventsMerged = eventsMerged
    self.eventsDropped = eventsDropped
    self.logLinesDropped = logLinesDropped
  }
}
