/// The kind of work a handler does; decides its default budget and grace.
public enum TaskKind: String, Sendable, CaseIterable {
  /// Short and frequent: tokens, small fetches (as `BGAppRefreshTask`).
  case refresh
  /// Maintenance, usually with conditions (as `BGProcessingTask`).
  case processing
  /// Started by a person, with visible progress (as `BGContinuedProcessingTask`).
  case continued

  /// How long a run may take before it expires; nil means no limit, see ``stallLimit``.
  ///
  /// - Source: 30 s as `BGAppRefreshTask`, 10 min as WorkManager.
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

  /// For `continued`: a run expires this long after its `completed` last increased.
  public var stallLimit: Duration? { self == .continued ? .seconds(60) : nil }
}
