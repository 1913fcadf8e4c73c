import TaskHostClient

/// The parts of the host's status that tables show.
struct StatusAnswer: Decodable {
  /// In the host's PID namespace.
  let processId: Int64
  let needsAction: Bool
  let problems: [ProblemAnswer]
  let tasks: [ScheduleAnswer]
  /// nil if the host's version has no assertions.
  let assertions: [AssertionAnswer]?
  /// nil if the host's version has no pauses.
  let pauses: [PauseAnswer]?
}

/// An execution assertion.
struct AssertionAnswer: Decodable {
  let id: String
  let name: String
  let reason: String?
  let identifier: String?
  let run: String?
  let processId: Int64?
  let userId: Int64?
  let sinceUnixMs: Int64
  let remainingMs: Int64
}

/// A problem or warning for the operator.
struct ProblemAnswer: Decodable {
  let kind: String
  let needsAction: Bool
  let message: String
  let remedy: String
  let sinceUnixMs: Int64?
}

/// The last results of a schedule, and its next start.
struct ScheduleAnswer: Decodable {
  /// When the schedule starts next.
  enum Start: Decodable, Equatable {
    /// Never, because no request of the schedule is live.
    case none
    /// An event or another request decides.
    case unknown
    case at(unixMs: Int64)

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      // A missing member and a null member have different meanings.
      if value.decodeNil() { self = .unknown } else { self = (try? value.decode(Int64.self)).map { .at(unixMs: $0) } ?? .none }
    }
  }

  let identifier: String
  let uniqueKey: String?
  let request: String?
  let repetition: Repetition
  let last: String
  let expired: Bool?
  let lastEndedUnixMs: Int64?
  let lastMessage: String?
  let lastWork: WorkAnswer?
  let lastSuccessUnixMs: Int64?
  let failuresInARow: Int64
  let nextStartUnixMs: Start
  /// The limit that holds a due request; nil if none does.
  let throttled: ExplanationAnswer.Gate?
}

/// The state of all conditions.
struct ConditionsAnswer: Decodable {
  struct Condition: Decodable {
    let name: String
    let holds: Bool
    let sinceUnixMs: Int64
    let observed: String
    let known: Bool
    let watched: Bool
    let overridden: Bool
    let settlesAtUnixMs: Int64?
  }

  let conditions: [Condition]
}

struct EventAnswer: Decodable {
  let event: String
  let woken: Int64
  let merged: Int64
  let waiting: Int64
}

/// Why a request is not running.
struct ExplanationAnswer: Decodable {
  struct Gate: Decodable {
    let gate: String
    let sentence: String
    let sinceUnixMs: Int64?
    let untilUnixMs: Int64?
    let heldBy: [String]?
    let remedy: String?
  }

  let details: [Gate]
  let place: Int64?
  let earliestStartUnixMs: Int64?
  let assumptions: [String]?
  let wouldRunIf: [String]
  /// nil if nothing is expected, or the host's version has no expectations.
  let expectations: [String]?
}

/// The expected runs.
struct ForecastAnswer: Decodable {
  struct Entry: Decodable {
    let atUnixMs: Int64
    let identifier: String
    let request: String
    let durationMs: Int64?
    let assumed: Bool
  }

  struct Held: Decodable {
    let request: String
    let identifier: String
    let reason: String
  }

  struct Count: Decodable {
    let request: String
    let runs: Int64
  }

  let fromUnixMs: Int64
  let entries: [Entry]
  let requests: [Count]
  let completeUntilUnixMs: Int64
  let held: [Held]
  let notes: [String]
  let truncated: Bool
}

/// The plugin files that were found.
struct PluginsAnswer: Decodable {
  let plugins: [PluginAnswer]
}

/// A plugin file and its state.
struct PluginAnswer: Decodable {
  struct Reason: Decodable {
    let message: String
  }

  let file: String
  let command: [String]?
  let standing: String
  let identifier: String?
  let kind: String?
  let isolation: String?
  let running: Int64
  let maxConcurrentRuns: Int64?
  let heldUntilUnixMs: Int64?
  let lastTrouble: String?
  let quota: String?
  let rate: String?
  let reason: Reason?
  let approval: PendingApprovalAnswer?
}

/// The failures of a plugin that its release cleared.
struct ReleaseAnswer: Decodable {
  let strikes: Int64
  let hostCrashes: Int64
  let heldUntilUnixMs: Int64?
  let quarantinedSinceUnixMs: Int64?
  let lastTrouble: String?
}
