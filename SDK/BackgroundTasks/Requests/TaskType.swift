import CTaskHost

/// What a request asks for: decides the class of the task its run is given. The raw values are those of the payload.
enum TaskType: String, Codable, Sendable {
  case refresh
  case processing
  case healthResearch = "health_research"
  case continued

  /// The host's kind that has this type's budget.
  var kind: taskhost_kind {
    switch self {
    case .refresh: taskhost_kind(TASKHOST_REFRESH)
    case .processing, .healthResearch: taskhost_kind(TASKHOST_PROCESSING)
    case .continued: taskhost_kind(TASKHOST_CONTINUED)
    }
  }

  /// How many identifiers may have such a request pending at once, `nil`: the host's own limits alone. Apple's numbers.
  var pendingLimit: Int? {
    switch self {
    case .refresh: 1
    case .processing, .healthResearch: 10
    case .continued: nil
    }
  }

  /// Whether requests of both types count against the same limit.
  func sharesLimit(with other: TaskType) -> Bool { kind == other.kind }
}
