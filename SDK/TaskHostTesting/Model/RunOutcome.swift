import TaskHostSDK

/// A run's outcome as the host records it, by the same table.
public enum RunOutcome: String, Sendable, CaseIterable {
  /// The handler returned success.
  case succeeded
  /// The handler found nothing to do.
  case noop
  /// The handler has more to do.
  case snoozed
  /// The handler failed for now.
  case retried
  /// The handler failed for good, or returned a value that is no result.
  case failed
  /// Its budget and its grace were spent: stopped by force.
  case expired
  /// Its request was cancelled or replaced.
  case cancelled
  /// Interrupted by a lost condition or by the host's shutdown, and not done.
  case stopped
  /// Its process died.
  case crashed
}
