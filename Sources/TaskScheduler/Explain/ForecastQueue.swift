public import TaskModel

/// The requests of a forecast, and what is known about their runs.
public struct ForecastQueue: Sendable {
  /// The live requests; requests that are missing here are not forecast.
  public var requests: [RequestRecord]
  /// The edges of blocked requests; for a request without an entry, its record says them.
  public var edges: [RequestID: [DependencyRecord]]
  /// How long a run of each identifier takes.
  public var durations: [TaskIdentifier: Duration]

  /// Creates a queue.
  public init(_ requests: [RequestRecord], edges: [RequestID: [DependencyRecord]] = [:], durations: [TaskIdentifier: Duration] = [:]) {
    self.requests = requests
    self.edges = edges
    self.durations = durations
  }

  /// The assumed duration of a run when nothing is known.
  public static let unknownDuration = Duration.seconds(1)

  /// How long a run of the identifier takes.
  func duration(_ identifier: TaskIdentifier) -> Duration {
    max(.milliseconds(1), durations[identifier] ?? Self.unknownDuration)
  }

  /// When a live run ends: after its usual time. A run that has taken longer is assumed to continue for as long again, since the longer
  /// something lasts, the longer it is likely to; but not beyond its budget.
  ///
  /// - Parameter budget: How long it may take; nil: no limit.
  /// - Returns: The time, after `now`, and whether the run has taken longer than usual.
  func end(of identifier: TaskIdentifier, started: WallTime, budget: Duration?, now: WallTime) -> (at: WallTime, isLate: Bool) {
    let usual = started + duration(identifier)
    guard usual < now else { return (max(now + .milliseconds(1), usual), false) }
    let longest = budget.map { started + $0 } ?? .distantFuture
    return (max(now + .milliseconds(1), min(now + (now - started), longest)), true)
  }
}
