import TaskModel

/// The record of a schedule's runs.
struct MemorySchedule {
  /// The sequences of the last run and of the last successful run.
  var run, success: Int64?
  var lastSuccess: WallTime?
  var failures = 0
  var failingSince: WallTime?
}

/// A schedule of an identifier.
struct ScheduleKey: Hashable, Comparable {
  /// The kind of schedule.
  enum Subject: Hashable {
    /// A unique key.
    case key(ExactText)
    /// A repeating request without a unique key.
    case request(Int64)
    /// All other requests of the identifier.
    case others

    var key: String? { if case .key(let text) = self { text.text } else { nil } }
  }

  let identifier: TaskIdentifier
  let subject: Subject

  static func < (left: ScheduleKey, right: ScheduleKey) -> Bool {
    guard left.identifier == right.identifier else { return left.identifier < right.identifier }
    return switch (left.subject, right.subject) {
    case (.key(let left), .key(let right)): left < right
    case (.request(let left), .request(let right)): left < right
    case (.others, .key), (.others, .request), (.key, .request): true
    default: false
    }
  }
}
