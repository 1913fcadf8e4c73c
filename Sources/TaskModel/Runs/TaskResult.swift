/// What a handler returned.
public enum TaskResult: Sendable, Hashable {
  /// Done.
  case success
  /// Ran, there was nothing to do.
  case noop
  /// More to do: run again soon; costs no attempt.
  case snooze
  /// Failed for now: backoff, one attempt spent.
  case retry
  /// Failed for good.
  case failure
  /// A value outside the contract; counts as ``failure``.
  case outOfRange(Int32)
}
