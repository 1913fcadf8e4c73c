/// The recorded outcome of a run.
public enum RunOutcome: String, Sendable, CaseIterable {
  /// The handler returned SUCCESS.
  case succeeded
  /// The handler returned NOOP.
  case noop
  /// The handler returned SNOOZE.
  case snoozed
  /// The handler returned RETRY.
  case retried
  /// The handler returned FAILURE or a value out of range.
  case failed
  /// The run used up its budget and grace, and was stopped by force.
  case expired
  /// The run's request was cancelled or replaced.
  case cancelled
  /// A lost condition or the host's shutdown interrupted the run.
  case stopped
  /// The run's worker crashed.
  case crashed
  /// The run ended because the host, or another run in its process, crashed.
  case lost

  /// Whether the work is done or there was none to do.
  public var isSuccess: Bool {
    switch self {
    case .succeeded, .noop: true
    case .snoozed, .retried, .failed, .expired, .cancelled, .stopped, .crashed, .lost: false
    }
  }

  /// Whether the handler failed to do the work. A run that was postponed, cancelled, interrupted or lost is neither a failure nor a
  /// success.
  public var isFailure: Bool {
    switch self {
    case .retried, .failed, .expired, .crashed: true
    case .succeeded, .noop, .snoozed, .cancelled, .stopped, .lost: false
    }
  }
}

/// The facts that determine a run's outcome.
public enum RunEnding: Sendable, Hashable {
  /// The handler returned; `stop` is why it had been asked to stop, nil if it had not.
  case returned(TaskResult, stop: StopReason?)
  /// The handler did not return within its grace.
  case forced(StopReason)
  /// The run's worker crashed, and this run is to blame.
  case crashed
  /// The run's process is gone, and this run is not to blame.
  case lost

  /// The outcome that follows from these facts.
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
