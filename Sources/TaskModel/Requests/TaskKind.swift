/// The kind of work that a handler does. It decides the default budget and grace.
public enum TaskKind: String, Sendable, CaseIterable {
  /// Short and frequent: tokens, small fetches (like `BGAppRefreshTask`).
  case refresh
  /// Maintenance, usually with conditions (like `BGProcessingTask`).
  case processing
  /// Started by a person, with visible progress (like `BGContinuedProcessingTask`).
  case continued

  /// How long a run may take before it expires; nil for no limit (see ``stallLimit``).
  ///
  /// - Source: 30 s like `BGAppRefreshTask`, 10 min like WorkManager.
  public var defaultBudget: Duration? {
    switch self {
    case .refresh: .seconds(30)
    case .processing: .seconds(600)
    case .continued: nil
    }
  }

  /// The time from expiration until a run is stopped by force.
  public var defaultGrace: Duration {
    switch self {
    case .refresh: .seconds(5)
    case .processing, .continued: .seconds(30)
    }
  }

  /// A `continued` run expires this long after its `completed` last increased; nil for other kinds.
  public var stallLimit: Duration? { self == .continued ? .seconds(60) : nil }
}
