/// How a run ended, as ``BackgroundTask/run(_:)`` returns it.
public enum TaskResult: Sendable, Equatable {
  /// Done.
  case success
  /// It found nothing to do: a success that is recorded separately.
  case noop
  /// There is more to do: run again. Costs no attempt and no backoff. `after` is the minimum delay from the run's end; `nil`: soon.
  case snooze(after: Duration? = nil)
  /// A temporary failure: costs one attempt. `after` is the minimum delay from the run's end; `nil`: the host's backoff.
  case retry(after: Duration? = nil)
  /// A permanent failure: no retry, and dependants fail.
  case failure
}
