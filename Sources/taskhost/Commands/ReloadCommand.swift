import ArgumentParser
import StrictText
import TaskHostClient
import TaskModel

struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Put the configuration and the plugins in force as they are now.",
    discussion: """
      The host reads its configuration file, its plugins and its keys anew, and
      checks all of it beside what runs. If anything is wrong, nothing changes, and
      every problem is printed. Otherwise all of it counts at once: runs that have
      begun end with what they began with. SIGHUP does the same, and the log has the
      result.

      EXAMPLES
        taskhost reload --dry-run
        taskhost reload

      EXIT CODES
        0 in force, 78 something is wrong and nothing has changed
      """)

  @Flag(help: "Only say what would change.")
  var dryRun = false
  @OptionGroup var host: HostOptions

  func run() async throws {
    let client = try host.client()
    let body = JSONWriter.object { writer in if dryRun { writer.member("dry_run", true) } }
    let answer: Answer
    do { answer = try await client.caller.send("POST", "/v1/reload", body) } catch let error as TaskHostError {
      guard case .refused(_, "conflict", _) = error.kind else { throw CommandFailure(error, client.names) }
      let lines = error.why.split(separator: "\n").map { "  " + String($0).escapingControlCharacters }
      throw CommandFailure(.configuration, "reload", (["nothing has changed:"] + lines).joined(separator: "\n"))
    }
    if host.json { return Terminal.print(answer.bytes) }
    for line in Self.lines(try answer.read()) { Terminal.print(line) }
  }

  /// What has changed, or would.
  static func lines(_ report: ReloadAnswer) -> [String] {
    var lines = report.keys.map { key in
      let values = key.secret == true ? "changed; its values are not shown" : "\(key.before ?? "unset") → \(key.after ?? "unset")"
      return "\(key.key): \(values)"
    }
    if report.omittedKeys > 0 { lines.append("and \(report.omittedKeys) more keys") }
    for plugin in report.plugins {
      lines.append("\(plugin.identifier): \(plugin.change) (\(plugin.file))")
      lines += plugin.gained.map { "  new: \($0)" } + plugin.lost.map { "  no longer: \($0)" }
    }
    for pending in report.held {
      lines += PluginsApproveCommand.lines(pending) + ["  to approve: taskhost plugins approve \(pending.identifier)"]
    }
    lines += report.notes
    let isNothing = report.keys.isEmpty && report.plugins.isEmpty && report.notes.isEmpty
    let head = isNothing ? "nothing has changed" : report.dryRun ? "would change:" : "in force, changed:"
    return [head] + lines.map { "  " + $0.escapingControlCharacters }
  }
}
