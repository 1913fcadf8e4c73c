import StrictText

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

  /// Does `body`. In JSON, its failure is an object on standard output too, as the host answers one.
  static func answering<Value>(inJSON: Bool, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let failure as CommandFailure where inJSON {
      Terminal.printObject { writer in
        writer.object("error") { writer in
          writer.member("code", failure.status.code)
          writer.member("message", (failure.what.map { "\($0): " } ?? "") + failure.why)
          writer.member("remedy", failure.remedy)
        }
      }
      throw failure
    }
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

  /// The same in JSON.
  var code: String {
    switch self {
    case .refused: "refused"
    case .noHost: "unavailable"
    case .configuration: "configuration"
    case .cancelled: "cancelled"
    case .done, .failed, .usage: "failed"
    }
  }
}
