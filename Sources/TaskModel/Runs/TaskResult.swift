/// What a handler returned.
public enum TaskResult: Sendable, Hashable {
  /// Done.
  case success
  /// The handler found nothing to do.
  case noop
  /// There is more to do: run again soon. Spends no attempt.
  case snooze
  /// A temporary failure: retry after a backoff. Spends one attempt.
  case retry
  /// A permanent failure.
  case failure
  /// A value outside the contract; counts as ``failure``.
  case outOfRange(Int32)
}
