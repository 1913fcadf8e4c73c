import TaskHostSDK

extension BackgroundTasksPlugin.Kind {
  var hostKind: TaskKind {
    switch self {
    case .refresh: .refresh
    case .processing, .healthResearch: .processing
    case .continued: .continued
    }
  }

  /// The most identifiers with such a request pending; `nil`: only the host's own limits apply. Apple's numbers.
  ///
  /// Requests of all kinds with the same ``hostKind`` count together.
  var pendingLimit: Int? {
    switch self {
    case .refresh: 1
    case .processing, .healthResearch: 10
    case .continued: nil
    }
  }
}
