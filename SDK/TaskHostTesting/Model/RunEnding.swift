public import TaskHostSDK

/// How a run ended, as the host saw it.
public enum RunEnding: Sendable, Equatable {
  /// The handler returned.
  case returned(TaskResult)
  /// It did not return in its grace: stopped by force, its thread left behind.
  case forced
  /// It ended as if its process had died.
  case killed
}
