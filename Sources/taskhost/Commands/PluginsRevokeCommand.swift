import ArgumentParser
import TaskHostClient
import TaskModel

struct PluginsRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Take back what was approved for a plugin, so that it is not loaded.",
    discussion: """
      With approve_entitlements = true. This shows what the plugin may do, asks,
      takes the approval back and reloads the host, which puts it in force: the
      plugin is not loaded any more, also after a restart, and its requests wait
      until somebody approves it again (taskhost plugins approve). Live runs go on to
      their ends.

      EXAMPLES
        taskhost plugins revoke org.taskhost.cleanup
        taskhost plugins revoke libCleanup.so --yes

      EXIT CODES
        0 in force, 4 not revoked, 6 nothing to revoke, 78 revoked but not in force
      """)

  @Argument(help: "The plugin's identifier, or the name or path of its file.")
  var plugin: String
  @Flag(help: "Do not ask.")
  var yes = false
  @OptionGroup var host: HostOptions

  func run() async throws {
    let client = try host.client()
    let identifier = try await identifier(client)
    let answer = try await client.send("POST", "/v1/plugins/\(ControlClient.escape(identifier))/revoke", nil)
    let report: RevocationReportAnswer = try answer.read()
    if host.json {
      Terminal.print(answer.bytes)
    } else {
      Terminal.print("\(report.identifier) revoked\(report.inForce ? ", and not loaded any more" : "")".escapingControlCharacters)
      for line in report.lost { Terminal.print("  no longer: \(line)".escapingControlCharacters) }
    }
    guard !report.inForce else { return }
    for problem in report.problems { Terminal.note("  \(problem.escapingControlCharacters)") }
    throw CommandFailure(
      .configuration, "plugins revoke", "revoked, but not in force", remedy: "correct that, then taskhost reload, or restart the host")
  }

  /// The identifier that the argument names. Asks whether to revoke.
  private func identifier(_ client: ControlClient) async throws -> String {
    let plugins: PluginsAnswer = try await client.send("GET", "/v1/plugins", nil).read()
    let named = plugins.plugins.filter { entry in
      entry.identifier == plugin || entry.approval?.identifier == plugin || entry.file == plugin
        || entry.file.split(separator: "/").last.map(String.init) == plugin
    }
    let places = Set(named.map(\.file))
    guard places.count < 2 else {
      throw CommandFailure(
        .refused, "plugins revoke", "\(plugin.escapingControlCharacters) is the name of \(places.count) files",
        remedy: "name the whole path of one: \(places.sorted().joined(separator: ", ").escapingControlCharacters)")
    }
    if !yes {
      Terminal.note("\(plugin.escapingControlCharacters) would not be loaded any more, and its requests would wait.")
      guard Terminal.canAsk else { throw ValidationError("Nobody can be asked here: add --yes to revoke the approval.") }
      guard Terminal.agrees("Revoke? Write yes:") else {
        Terminal.note("nothing was revoked")
        throw ExitCode(ExitStatus.cancelled.rawValue)
      }
    }
    // What is not loaded is known to the host by its identifier.
    return named.lazy.compactMap(\.identifier).first ?? named.lazy.compactMap(\.approval?.identifier).first ?? plugin
  }
}
