import StrictText
import TaskModel

/// `[command."ID"]`: a program that runs as a task, without a plugin's file.
///
/// The library of the exec plugin runs it. All other keys are those of `[plugin."ID"]`.
public struct CommandConfiguration: Sendable, Equatable {
  /// What a run's standard output becomes.
  public enum StandardOutput: String, Sendable, CaseIterable {
    /// Lines of the run's log.
    case log
    /// The run's output, at most 64 KiB.
    case output
  }

  /// A result of a run, by its name.
  public enum ExitResult: String, Sendable, CaseIterable {
    /// Done.
    case success
    /// There was nothing to do.
    case noop
    /// Run again, without spending an attempt.
    case snooze
    /// Failed for now.
    case retry
    /// Failed for good.
    case failure
  }

  /// `run`: the program and its arguments. A name without a slash is searched along `PATH`.
  public var run: [String] = []

  /// `shell`: a line for `/bin/sh -c`, instead of `run`.
  public var shell: String?

  /// `directory` in which it starts; nil: the home directory of its user.
  public var directory: String?

  /// `environment`: names of the host's variables that it gets, and variables with values, as `NAME=VALUE`.
  public var environment: [String] = []

  /// `user` it runs as; nil: the host's. Needs a host that runs as root.
  public var user: String?

  /// `exit_codes`: results by exit code, or by `other` for all that are not named.
  public var exitCodes: [String: ExitResult] = [:]

  /// `stdout`, ``StandardOutput/log`` by default.
  public var standardOutput = StandardOutput.log

  /// `persistent`: one process serves many runs, by lines of JSON on standard input and output.
  public var isPersistent = false

  /// `idle_time`: how long a persistent process without a run is kept, 0 to 1 day.
  public var idleTime: Duration = .seconds(60)

  /// Whether the host made it from a table of `[[notify]]`: its payload is a notification, which its environment describes too.
  var isNotice = false

  /// What it has in common with a plugin. Its ``PluginConfiguration/isolation`` is `process`, with a sandbox, if the table has
  /// entitlements, and otherwise `thread`: the operator's own command then reaches what the host reaches.
  public var plugin = PluginConfiguration()

  /// The file that a command's identifier is tied to, instead of a plugin's.
  static func file(of identifier: String) -> String { "[command.\"\(identifier)\"]" }

  /// The plugin that runs the command.
  ///
  /// - Parameters:
  ///   - socket: The host's control socket.
  ///   - isSandboxed: Whether the table has entitlements.
  func plugin(of identifier: String, socket: String, isSandboxed: Bool) -> PluginConfiguration {
    var plugin = plugin
    plugin.file = Self.file(of: identifier)
    plugin.isolation = isSandboxed ? .process : .thread
    plugin.environment = passed
    plugin.maxConcurrentRuns = plugin.maxConcurrentRuns ?? 1
    plugin.settings = settings(of: identifier, limits: plugin.limits, socket: isSandboxed ? nil : socket)
    return plugin
  }

  /// The program that is started, and its arguments.
  var words: [String] { shell.map { ["/bin/sh", "-c", $0] } ?? run }

  /// The names of the variables that it gets from the host.
  private var passed: [String] { environment.filter { !$0.contains("=") } }

  /// The variables with values. Of two with one name, the last counts.
  private var given: [String: String] {
    environment.reduce(into: [:]) { given, variable in
      guard let sign = variable.firstIndex(of: "=") else { return }
      given[String(variable[..<sign])] = String(variable[variable.index(after: sign)...])
    }
  }

  /// The settings of the exec plugin.
  ///
  /// - Parameter socket: Nil if it runs in a sandbox, which keeps it from the socket.
  private func settings(of identifier: String, limits: PluginConfiguration.Limits, socket: String?) -> String {
    let bytes = JSONWriter.object { writer in
      writer.member("identifier", identifier)
      writer.member("run", words)
      writer.member("directory", directory)
      writer.object("environment") { writer in
        for (name, value) in given.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
      }
      writer.member("pass", passed)
      writer.member("user", user)
      writer.object("exit_codes") { writer in
        for (code, result) in exitCodes.sorted(by: { $0.key < $1.key }) { writer.member(code, result.rawValue) }
      }
      writer.member("stdout", standardOutput.rawValue)
      if isPersistent {
        writer.member("persistent", true)
        writer.member("idle_time_ms", idleTime.wholeMilliseconds)
      }
      if isNotice { writer.member("notice", true) }
      writer.member("sandboxed", socket == nil)
      writer.member("socket", socket)
      // A worker has its limits from the host; in a thread, the plugin sets them for the command.
      if socket != nil {
        let defaults = PluginConfiguration.Limits()
        writer.member("memory", limits.memory == defaults.memory ? nil : limits.memory)
        writer.member("descriptors", limits.descriptors == defaults.descriptors ? nil : limits.descriptors)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
