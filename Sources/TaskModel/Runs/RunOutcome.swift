/// How a run ended, as recorded.
public enum RunOutcome: String, Sendable, CaseIterable {
  /// The handler returned SUCCESS.
  case succeeded
  /// The handler returned NOOP.
  case noop
  /// The handler returned SNOOZE.
  case snoozed
  /// The handler returned RETRY.
  case retried
  /// The handler returned FAILURE, or a value out of range.
  case failed
  /// The budget and the grace were spent: stopped by force.
  case expired
  /// Its request was cancelled or replaced.
  case cancelled
  /// Interrupted by a lost condition or by the host's shutdown.
  case stopped
  /// Its worker crashed.
  case crashed
  /// The host, or a neighbour's crash, took it along.
  case lost

  /// Whether the work was done, or there was none.
  public var isSuccess: Bool {
    switch self {
    case .succeeded, .noop: true
    case .snoozed, .retried, .failed, .expired, .cancelled, .stopped, .crashed, .lost: false
    }
  }

  /// Whether the handler is why the work was not done. A run that was put off, cancelled, interrupted or lost is neither this nor a success.
  public var isFailure: Bool {
    switch self {
    case .retried, .failed, .expired, .crashed: true
    case .succeeded, .noop, .snoozed, .cancelled, .stopped, .lost: false
    }
  }
}

/// The facts from which a run's outcome follows.
public enum RunEnding: Sendable, Hashable {
  /// The handler returned, `stop` saying whether it had been asked to stop.
  case returned(TaskResult, stop: StopReason?)
  /// The handler did not return in its grace.
  case forced(StopReason)
  /// The worker that ran it crashed, and it is to blame.
  case crashed
  /// The process that ran it is gone, and it is not to blame.
  case lost

  /// The table "How a run ends" of the semantics.
  public var outcome: RunOutcome {
    switch self {
    case .returned(_, stop: .cancelled), .returned(_, stop: .replaced), .forced(.cancelled), .forced(.replaced): .cancelled
    case .returned(.success, _): .succeeded
    case .returned(.noop, _): .noop
    case .returned(.failure, _), .returned(.outOfRange, _): .failed
    case .returned(.retry, stop: .conditions), .returned(.retry, stop: .draining): .stopped
    case .returned(.snooze, stop: .conditions), .returned(.snooze, stop: .draining): .stopped
    case .returned(.snooze, _): .snoozed
    case .returned(.retry, _): .retried
    case .forced(.budget), .forced(.stalled): .expired
    case .forced(.conditions), .forced(.draining): .stopped
    case .crashed: .crashed
    case .lost: .lost
    }
  }
}
