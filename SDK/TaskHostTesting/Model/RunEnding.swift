public import TaskHostSDK

/// How a run ended, as the host saw it.
public enum RunEnding: Sendable, Equatable {
  /// The handler returned.
  case returned(TaskResult)
  /// It did not return within its grace: the host stopped it by force and left its thread behind.
  case forced
  /// It ended as if its process had died.
  case killed
}
