public import TaskModel

/// The requests to forecast, and what is known about their runs.
public struct ForecastQueue: Sendable {
  /// The live requests; others are not forecast.
  public var requests: [RequestRecord]
  /// The edges of blocked requests; a request without an entry gets those that its record names.
  public var edges: [RequestID: [DependencyRecord]]
  /// The usual duration of a run of each identifier.
  public var durations: [TaskIdentifier: Duration]

  /// Creates a queue.
  public init(_ requests: [RequestRecord], edges: [RequestID: [DependencyRecord]] = [:], durations: [TaskIdentifier: Duration] = [:]) {
    self.requests = requests
    self.edges = edges
    self.durations = durations
  }

  /// The assumed duration of a run if nothing is known.
  public static let unknownDuration = Duration.seconds(1)

  /// The assumed duration of a run of the identifier, at least 1 ms.
  func duration(_ identifier: TaskIdentifier) -> Duration {
    max(.milliseconds(1), durations[identifier] ?? Self.unknownDuration)
  }

  /// The assumed end of a live run: after its usual duration. A run that has taken longer is assumed to take as long again, because the
  /// longer something lasts, the longer it is likely to last; but not beyond its budget.
  ///
  /// - Parameter budget: How long the run may take; nil means no limit.
  /// - Returns: The end, which is after `now`, and whether the run has taken longer than usual.
  func end(of identifier: TaskIdentifier, started: WallTime, budget: Duration?, now: WallTime) -> (at: WallTime, isLate: Bool) {
    let usual = started + duration(identifier)
    guard usual < now else { return (max(now + .milliseconds(1), usual), false) }
    let longest = budget.map { started + $0 } ?? .distantFuture
    return (max(now + .milliseconds(1), min(now + (now - started), longest)), true)
  }
}
