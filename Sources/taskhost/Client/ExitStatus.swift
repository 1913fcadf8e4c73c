/// What the process's exit code says; part of the command line's contract.
enum ExitStatus: Int32, Sendable {
  /// Done.
  case done = 0
  /// The task or the check failed.
  case failed = 1
  /// The command line was not understood.
  case usage = 2
  /// The task was cancelled.
  case cancelled = 4
  /// No host is running there, or it went away.
  case noHost = 5
  /// The host refused, and said why.
  case refused = 6
}
