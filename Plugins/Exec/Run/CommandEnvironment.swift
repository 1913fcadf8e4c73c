import Glibc
import ProgramSearch

/// The environment of a command: as cron and systemd make it, not the host's.
struct CommandEnvironment {
  /// `NAME=VALUE`, sorted.
  let variables: [String]
  let home: String
  private let values: [String: String]

  /// The variable whose ten digits are the id of the session that the command leads: see ``Leftovers``.
  static let session = "TASKHOST_SESSION"
  static let path = ProgramSearch.path

  /// - Parameters:
  ///   - account: The user the command runs as; nil in a sandbox, whose worker has folders of its own.
  ///   - own: The variables that describe the run.
  init(_ settings: CommandSettings, account: UserAccount?, own: [String: String]) {
    var values: [String: String] = ["PATH": Self.path, "SHELL": "/bin/sh"]
    // The worker of a sandbox has set these for its plugin.
    for name in settings.isSandboxed ? ["PATH", "HOME", "TMPDIR"] : [] { values[name] = Self.inherited(name) }
    for name in ["LANG", "LC_ALL", "TZ"] { values[name] = Self.inherited(name) }
    if let account {
      (values["HOME"], values["USER"], values["LOGNAME"]) = (account.home, account.name, account.name)
    } else {
      values["HOME"] = values["HOME"] ?? Self.inherited("HOME")
    }
    for name in settings.passed { values[name] = Self.inherited(name) }
    values.merge(own) { _, own in own }
    for (name, value) in settings.environment { values[name] = value }
    values[Self.session] = "0000000000"
    self.values = values
    home = values["HOME"] ?? "/"
    variables = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  private static func inherited(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The program's absolute path, found along the command's PATH if its name has no slash.
  func program(_ name: String) throws(StartFailure) -> String {
    let path = values["PATH"] ?? Self.path
    if let file = ProgramSearch.file(of: name, path: path) { return file }
    throw StartFailure(description: "cannot start \(name): it is in no folder of PATH (\(path)): name its whole path in run")
  }
}
