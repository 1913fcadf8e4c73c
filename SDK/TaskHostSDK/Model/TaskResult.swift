/// How a run ended, as ``BackgroundTask/run(_:)`` returns it.
public enum TaskResult: Sendable, Equatable {
  /// Done.
  case success
  /// Ran, and there was nothing to do: a success the records tell apart.
  case noop
  /// More to do: run again. Costs no attempt, grows no backoff. `after`: not before that long from the run's end; `nil`: soon.
  case snooze(after: Duration? = nil)
  /// Failed for now: one attempt spent. `after`: not before that long from the run's end; `nil`: the host's backoff.
  case retry(after: Duration? = nil)
  /// Failed for good: no retry, dependants fail.
  case failure
}
