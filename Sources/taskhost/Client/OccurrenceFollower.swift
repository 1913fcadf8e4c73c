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

  /// What an event means; nil: nothing.
  mutating func apply(_ event: StreamEvent) -> Step? {
    switch event {
    case .run(let run) where run.request == request: return runChanged(run)
    case .request(let record) where record.id == request: return requestChanged(record)
    case .progress(let event) where event.request == request:
      return .progress(completed: event.progress.completed.value, total: event.progress.total.value)
    case .log(let event) where event.request == request:
      return .log(level: event.line.value.level, message: event.line.value.message)
    default: return nil
    }
  }

  private mutating func runChanged(_ run: RunAnswer) -> Step? {
    guard let outcome = run.outcome else { return .began(attempt: run.attempt) }
    lastRun = run.id
    switch RunOutcome(rawValue: outcome) {
    case .succeeded, .noop: return .ended(.succeeded)
    case .failed: return .ended(.failed)
    case .cancelled: return .ended(.cancelled)
    case .snoozed, .retried, .expired, .stopped, .crashed, .lost, nil:
      open = (outcome, run.message)
      return nil
    }
  }

  private mutating func requestChanged(_ record: RequestAnswer) -> Step? {
    switch record.state {
    case "succeeded": return .ended(.succeeded)
    case "failed": return .ended(.failed)
    case "cancelled": return .ended(.cancelled)
    case "pending":
      guard let open else { return nil }
      self.open = nil
      if isRepeating, isSpent(open.outcome, record) { return .ended(.failed) }
      return .again(outcome: open.outcome, message: open.message, dueUnixMilliseconds: record.dueUnixMs ?? 0)
    default: return nil
    }
  }

  /// A repeating request that spent its attempts is pending for its next occurrence, with none spent.
  private func isSpent(_ outcome: String, _ record: RequestAnswer) -> Bool {
    switch RunOutcome(rawValue: outcome) {
    case .retried, .expired, .crashed: record.attemptsSpent == 0
    case .lost: record.losses == 0
    default: false
    }
  }
}
