import TaskModel

/// Maps enum cases to numbers in the database. A number never gets a new meaning; gaps are for future cases.
protocol StoredValue: CaseIterable, Equatable, Sendable {
  var stored: Int64 { get }
}

extension StoredValue {
  /// Creates the case that `stored` stands for.
  init(stored: Int64) throws {
    guard let value = Self.allCases.first(where: { $0.stored == stored }) else {
      throw UnknownStoredValue(type: "\(Self.self)", value: stored)
    }
    self = value
  }

  /// The case that `stored` stands for; nil for nil.
  static func optional(_ stored: Int64?) throws -> Self? { try stored.map { try Self(stored: $0) } }
}

/// A number in the database without a meaning: the file is damaged or newer than this program.
struct UnknownStoredValue: Error, CustomStringConvertible {
  let type: String
  let value: Int64
  var description: String { "\(value) is not a stored \(type)" }
}

extension RequestState: StoredValue {
  /// Numbers below 50 are live states. The partial indexes of the schema contain 10, 20, 30, 40 and 50.
  var stored: Int64 {
    switch self {
    case .blocked: 10
    case .pending: 20
    case .claimed: 30
    case .running: 40
    case .succeeded: 50
    case .failed: 60
    case .cancelled: 70
    }
  }
}

extension RunOutcome: StoredValue {
  var stored: Int64 {
    switch self {
    case .succeeded: 10
    case .noop: 20
    case .snoozed: 30
    case .retried: 40
    case .failed: 50
    case .expired: 60
    case .cancelled: 70
    case .stopped: 80
    case .crashed: 90
    case .lost: 100
    }
  }
}

extension StopReason: StoredValue {
  var stored: Int64 {
    switch self {
    case .budget: 10
    case .cancelled: 20
    case .conditions: 30
    case .draining: 40
    case .replaced: 50
    case .stalled: 60
    }
  }
}

extension StopStage: StoredValue {
  var stored: Int64 {
    switch self {
    case .asked: 10
    case .abandoned: 20
    case .killed: 30
    }
  }
}

extension ConflictPolicy: StoredValue {
  var stored: Int64 {
    switch self {
    case .none: 0
    case .keep: 10
    case .replace: 20
    case .update: 30
    case .append: 40
    }
  }
}

extension RetryPolicy.Backoff: StoredValue {
  var stored: Int64 {
    switch self {
    case .linear: 10
    case .exponential: 20
    }
  }
}

extension DueClock: StoredValue {
  var stored: Int64 {
    switch self {
    case .wall: 0
    case .boot: 10
    }
  }
}

extension Dependency.FailurePolicy: StoredValue {
  var stored: Int64 {
    switch self {
    case .fail: 10
    case .ignore: 20
    }
  }
}

extension Disposition: StoredValue {
  var stored: Int64 {
    switch self {
    case .created: 10
    case .kept: 20
    case .replaced: 30
    case .updated: 40
    case .appended: 50
    }
  }
}
