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
}
