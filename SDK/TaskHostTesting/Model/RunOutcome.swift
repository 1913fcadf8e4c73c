import TaskHostSDK

/// A run's outcome, from the table that the host uses.
public enum RunOutcome: String, Sendable, CaseIterable {
  /// The handler returned success.
  case succeeded
  /// The handler found nothing to do.
  case noop
  /// The handler has more to do.
  case snoozed
  /// The handler failed and asked for another attempt.
  case retried
  /// The handler failed for good, or returned an invalid result.
  case failed
  /// The run used up its budget and its grace: the host stopped it by force.
  case expired
  /// The run's request was cancelled or replaced.
  case cancelled
  /// A lost condition or the host's shutdown interrupted the run before it was done.
  case stopped
  /// The run's process died.
  case crashed
}
