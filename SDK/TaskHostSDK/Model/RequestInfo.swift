public import FoundationEssentials

/// A request as the host has it. A snapshot: it does not change when the request does.
///
/// ```swift
/// for info in try task.requests() where info.state == .pending && info.request.tags.contains("backup") {
///   var request = info.request
///   request.priority = 5
///   try task.update(info.id, with: request)
/// }
/// ```
public struct RequestInfo: Sendable {
  /// Where a request stands.
  public enum State: String, Sendable, Codable {
    /// It waits for another request.
    case blocked
    /// It waits for its time, its conditions, its event or a free place.
    case pending
    /// It has a run.
    case running
    /// It ended, and its last run succeeded or found nothing to do.
    case succeeded
    /// It ended, and will not be tried again.
    case failed
    /// It was cancelled or replaced.
    case cancelled
  }

  /// The request's id.
  public let id: String
  /// Where it stands.
  public let state: State
  /// What was submitted, with what the operator's defaults add. The payload is empty in requests of other plugins.
  public let request: TaskRequest
  /// When it starts at the earliest; `nil` if it waits for an event.
  public let due: Date?
  /// When it was submitted.
  public let submitted: Date
  /// 1 before and in the first run, plus one for each attempt spent.
  public let attempt: Int
  /// The request that it waits for; `nil` unless it is blocked.
  public let blockedBy: String?
  /// When its last run started; `nil` if it never ran.
  public let started: Date?
  /// When its last run ended.
  public let ended: Date?
  /// How its last run ended.
  public let lastOutcome: RunInfo.Outcome?
  /// What was said of its last run.
  public let lastMessage: String?
  /// The file that it waits for a change of.
  public let watchedFile: String?
  /// Everything that the host says of it, a JSON object.
  public let json: [UInt8]
}

/// A run that has ended.
public struct RunInfo: Sendable {
  /// How a run ended.
  public enum Outcome: String, Sendable, Codable {
    /// The handler returned success.
    case succeeded
    /// There was nothing to do.
    case noop
    /// There is more to do.
    case snoozed
    /// It is to be tried again.
    case retried
    /// It failed for good.
    case failed
    /// It used up its budget.
    case expired
    /// Its request was cancelled or replaced.
    case cancelled
    /// A lost condition or the host's shutdown interrupted it.
    case stopped
    /// Its process crashed.
    case crashed
    /// Its process is gone, through no fault of its own.
    case lost
  }

  /// The run's id.
  public let id: String
  /// The request's id.
  public let requestID: String
  /// The task identifier.
  public let identifier: String
  /// 1 for a request's first run, plus one for each attempt spent.
  public let attempt: Int
  /// How it ended.
  public let outcome: Outcome
  /// When it started.
  public let started: Date
  /// When its end was recorded.
  public let ended: Date
  /// How long it took on the monotonic clock.
  public let duration: Duration
  /// What the handler or the host said of it.
  public let message: String?
  /// Everything that the host says of it, a JSON object.
  public let json: [UInt8]
}

/// Why a request is not running.
public struct RequestExplanation: Sendable {
  /// What keeps it from running, each a sentence; empty if nothing does.
  public let reasons: [String]
  /// What must happen for it to run, each a sentence.
  public let wouldRunIf: [String]
  /// When it starts if nothing changes; `nil` if that is unknown.
  public let earliestStart: Date?
  /// Its place among the due requests that wait for the same thing, from 1; `nil` if it does not queue.
  public let place: Int?
  /// Everything that the host says, a JSON object.
  public let json: [UInt8]
}

/// A condition of the machine, as the host reads it now.
public struct ConditionReading: Sendable {
  /// The condition's name, such as `network` or `battery_not_low`.
  public let name: String
  /// The condition; empty for one that this SDK does not know.
  public let condition: Conditions
  /// Whether it counts as held.
  public let holds: Bool
  /// Since when.
  public let since: Date
  /// What was seen, a sentence without a full stop.
  public let observed: String
  /// Whether the machine reports it. If not, it counts as held.
  public let isKnown: Bool
}
