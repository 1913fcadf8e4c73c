/// Why a command failed.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
  let status: ExitStatus
  /// What failed, or the object concerned; nil if `why` says it.
  let what: String?
  let why: String
  /// The remedy; nil if `why` says it.
  let remedy: String?

  init(_ status: ExitStatus, _ what: String?, _ why: String, remedy: String? = nil) {
    self.status = status
    self.what = what
    self.why = why
    self.remedy = remedy
  }

  var description: String { "taskhost: " + (what.map { "\($0): " } ?? "") + why + (remedy.map { " (\($0))" } ?? "") }
}

/// The exit codes of commands; part of the command line's contract.
enum ExitStatus: Int32, Sendable {
  case done = 0
  /// The task or the check failed.
  case failed = 1
  /// The command line was not understood.
  case usage = 2
  case cancelled = 4
  /// No host is running at the socket, or it went away.
  case noHost = 5
  /// The host refused and gave a reason.
  case refused = 6
  /// The host's configuration or plugins have problems, so they are not in force.
  case configuration = 78
}
