import HostControl
import TaskModel

/// Follows one occurrence of a request through the host's events: what to tell, and when it has ended. Pure; ``FollowSession`` acts.
///
/// A request's and its run's last events may come in either order, so either may end it.
struct OccurrenceFollower {
  /// What an event means to who waits.
  enum Step: Hashable {
    /// An attempt has begun.
    case began(attempt: Int64)
    /// How far it is; `total` 0: unknown.
    case progress(completed: Int64, total: Int64)
    /// A line of its log.
    case log(level: String, message: String)
    /// The run ended, the occurrence did not: its outcome, its message, and when it is due again.
    case again(outcome: String, message: String?, dueUnixMilliseconds: Int64)
    /// The occurrence ended.
    case ended(End)
  }

  /// How the occurrence ended.
  enum End: Hashable {
    case succeeded, failed, cancelled

    var status: ExitStatus {
      switch self {
      case .succeeded: .done
      case .failed: .failed
      case .cancelled: .cancelled
      }
    }
  }

  private let request: String
  private let isRepeating: Bool
  /// The outcome of a run that did not end the occurrence by itself; the request's next event tells what becomes of it.
  private var open: (outcome: String, message: String?)?
  /// The last run seen to end: its id.
  private(set) var lastRun: String?

  init(request: String, isRepeating: Bool) {
    self.request = request
    self.isRepeating = isRepeating
  }

  /// What the event `name` with `data` means; nil: nothing.
  mutating func apply(_ name: String, _ data: JSONNode) -> Step? {
    switch name {
    case "run" where data["request"]?.string == request: return run(data)
    case "request" where data["id"]?.string == request: return requestChanged(data)
    case "progress" where data["request"]?.string == request:
      guard let progress = data["progress"] else { return nil }
      return .progress(completed: progress["completed"]?.integer ?? 0, total: progress["total"]?.integer ?? 0)
    case "log" where data["request"]?.string == request:
      return .log(level: data["line"]?["level"]?.string ?? "info", message: data["line"]?["message"]?.string ?? "")
    default: return nil
    }
  }

  private mutating func run(_ data: JSONNode) -> Step? {
    guard let outcome = data["outcome"]?.string else { return .began(attempt: data["attempt"]?.integer ?? 1) }
    lastRun = data["id"]?.string
    switch RunOutcome(rawValue: outcome) {
    case .succeeded, .noop: return .ended(.succeeded)
    case .failed: return .ended(.failed)
    case .cancelled: return .ended(.cancelled)
    case .snoozed, .retried, .expired, .stopped, .crashed, .lost, nil:
      open = (outcome, data["message"]?.string)
      return nil
    }
  }

  private mutating func requestChanged(_ data: JSONNode) -> Step? {
    switch data["state"]?.string {
    case "succeeded": return .ended(.succeeded)
    case "failed": return .ended(.failed)
    case "cancelled": return .ended(.cancelled)
    case "pending":
      guard let open else { return nil }
      self.open = nil
      if isRepeating, isSpent(open.outcome, data) { return .ended(.failed) }
      return .again(outcome: open.outcome, message: open.message, dueUnixMilliseconds: data["due_unix_ms"]?.integer ?? 0)
    default: return nil
    }
  }

  /// A repeating request that spent its attempts is pending for its next occurrence, with none spent.
  private func isSpent(_ outcome: String, _ data: JSONNode) -> Bool {
    switch RunOutcome(rawValue: outcome) {
    case .retried, .expired, .crashed: data["attempts_spent"]?.integer == 0
    case .lost: data["losses"]?.integer == 0
    default: false
    }
  }
}
