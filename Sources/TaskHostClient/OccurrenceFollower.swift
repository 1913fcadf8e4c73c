import TaskModel

/// Follows one occurrence of a request through the host's events: decides what to show, and when it has ended. Pure: who reads the
/// events acts.
///
/// The last events of a request and its run may come in either order, so either may end the occurrence.
package struct OccurrenceFollower {
  /// What an event means to who waits.
  package enum Step: Hashable {
    case began(attempt: Int64)
    case progress(ProgressAnswer)
    case work(WorkAnswer)
    case log(level: String, message: String)
    /// The run ended but the occurrence did not: the outcome, the message, and when it is due again.
    case again(outcome: String, message: String?, dueUnixMilliseconds: Int64)
    /// Somebody holds it back.
    case paused(by: String, why: String?)
    case ended(End)
  }

  package enum End: Hashable {
    case succeeded, failed, cancelled
  }

  private let request: String
  private let isRepeating: Bool
  /// The outcome of a run that did not decide the occurrence; the request's next event decides.
  private var open: (outcome: String, message: String?)?
  /// Whether it was told that it is paused.
  private var isPaused = false
  /// The id of the last run that ended.
  package private(set) var lastRun: String?

  package init(request: String, isRepeating: Bool) {
    self.request = request
    self.isRepeating = isRepeating
  }

  /// The meaning of an event; nil if it has none here.
  package mutating func apply(_ event: StreamEvent) -> Step? {
    switch event {
    case .run(let run) where run.request == request: return runChanged(run)
    case .request(let record) where record.id == request: return requestChanged(record)
    case .progress(let event) where event.request == request:
      return .progress(event.progress)
    case .work(let event) where event.request == request: return .work(event.work)
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
    // What failed is not a dead letter, but cancelled, once who waits for it was told.
    case "cancelled":
      return .ended(open.flatMap { RunOutcome(rawValue: $0.outcome) }?.spendsAttempt == true ? .failed : .cancelled)
    case "pending":
      if let paused = record.paused {
        open = nil
        guard !isPaused else { return nil }
        isPaused = true
        return .paused(by: paused.by, why: paused.why)
      }
      isPaused = false
      guard let open else { return nil }
      self.open = nil
      if isRepeating, isSpent(open.outcome, record) { return .ended(.failed) }
      return .again(outcome: open.outcome, message: open.message, dueUnixMilliseconds: record.dueUnixMs ?? 0)
    default: return nil
    }
  }

  /// Whether a repeating request has spent its attempts: it is then pending for its next occurrence, with no attempt spent.
  private func isSpent(_ outcome: String, _ record: RequestAnswer) -> Bool {
    guard let outcome = RunOutcome(rawValue: outcome) else { return false }
    return outcome.spendsAttempt && record.attemptsSpent == 0 || outcome.addsLoss && record.losses == 0
  }
}
