public import TaskModel

/// The requests that a forecast is about, and what is known of their runs.
public struct ForecastQueue: Sendable {
  /// The live requests; those left out are not foreseen.
  public var requests: [RequestRecord]
  /// What blocked ones wait for; those of a request that is not in it are taken from its record.
  public var edges: [RequestID: [DependencyRecord]]
  /// How long a run of each identifier takes.
  public var durations: [TaskIdentifier: Duration]

  /// Requests as given.
  public init(_ requests: [RequestRecord], edges: [RequestID: [DependencyRecord]] = [:], durations: [TaskIdentifier: Duration] = [:]) {
    self.requests = requests
    self.edges = edges
    self.durations = durations
  }

  /// How long a run is taken to last of which nothing is known.
  public static let unknownDuration = Duration.seconds(1)

  /// How long a run of the identifier takes.
  func duration(_ identifier: TaskIdentifier) -> Duration {
    max(.milliseconds(1), durations[identifier] ?? Self.unknownDuration)
  }

  /// When a run ends that goes on at `now`: when it has taken its usual time. One that has taken longer is taken to go on for as long again as
  /// it has gone on, since the longer something lasts the longer it is likely to; but not beyond its budget.
  ///
  /// - Parameter budget: How long it may take; nil: as long as it likes.
  /// - Returns: The time, after `now`, and whether the run has taken longer than usual.
  func end(of identifier: TaskIdentifier, started: WallTime, budget: Duration?, now: WallTime) -> (at: WallTime, isLate: Bool) {
    let usual = started + duration(identifier)
    guard usual < now else { return (max(now + .milliseconds(1), usual), false) }
    let longest = budget.map { started + $0 } ?? .distantFuture
    return (max(now + .milliseconds(1), min(now + (now - started), longest)), true)
  }
}
