/// Why a command did not do what it was asked.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
  /// The exit code.
  let status: ExitStatus
  /// What failed, or the thing it is about; nil when `why` says it.
  let what: String?
  /// Why.
  let why: String
  /// What to do; nil when `why` says it.
  let remedy: String?

  init(_ status: ExitStatus, _ what: String?, _ why: String, remedy: String? = nil) {
    self.status = status
    self.what = what
    self.why = why
    self.remedy = remedy
  }

  var description: String { "taskhost: " + (what.map { "\($0): " } ?? "") + why + (remedy.map { " (\($0))" } ?? "") }

  /// What another version will do.
  static func later(_ what: String) -> CommandFailure {
    CommandFailure(.refused, what, "comes with a later version of taskhost", remedy: "see taskhost --help for what this one offers")
  }
}
