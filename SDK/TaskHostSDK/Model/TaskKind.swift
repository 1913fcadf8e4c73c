import CTaskHost

/// Decides the default budget and grace of a run. The clock starts when the run starts.
public enum TaskKind: Sendable {
  /// Short and frequent: budget 30 s, grace 5 s.
  case refresh
  /// Maintenance: budget 10 min, grace 30 s.
  case processing
  /// Work that a user started: no budget, expires 60 s after its progress last increased; grace 30 s.
  case continued

  var cValue: taskhost_kind {
    switch self {
    case .refresh: taskhost_kind(TASKHOST_REFRESH)
    case .processing: taskhost_kind(TASKHOST_PROCESSING)
    case .continued: taskhost_kind(TASKHOST_CONTINUED)
    }
  }
}
