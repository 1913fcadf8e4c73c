import ArgumentParser
import Glibc
import StrictText
import TaskHostClient
import TaskModel

struct PluginsApproveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Approve what a plugin may do, so that it is loaded.",
    discussion: """
      With approve_entitlements = true, a plugin that may do more than was approved
      waits. This shows what is new, asks, records the approval and reloads the host,
      which puts it in force. Exactly what was shown is approved.

      EXAMPLES
        taskhost plugins approve org.taskhost.cleanup
        taskhost plugins approve --all --yes

      EXIT CODES
        0 in force, 4 not approved, 6 no such plugin, 78 approved but not in force
      """)

  @Argument(help: "The plugin's identifier.")
  var identifier: String?
  @Flag(help: "Approve every plugin that waits.")
  var all = false
  @Flag(help: "Do not ask.")
  var yes = false
  @OptionGroup var host: HostOptions

  func validate() throws {
    guard all != (identifier != nil) else { throw ValidationError("Name one identifier, or use --all.") }
  }

  func run() async throws {
    let client = try host.client()
    let waiting = try await waiting(client)
    guard !waiting.isEmpty else {
      return Terminal.note("\(identifier?.escapingControlCharacters ?? "no plugin") \(all ? "waits" : "does not wait") for approval")
    }
    if !yes { try ask(waiting) } else if !host.json { Self.show(waiting) { Terminal.print($0) } }
    var isInForce = true
    for (index, pending) in waiting.enumerated() {
      let body = JSONWriter.object { writer in
        writer.member("fingerprint", pending.fingerprint)
        if index < waiting.count - 1 { writer.member("reload", false) }
      }
      let answer = try await client.send("POST", "/v1/plugins/\(ControlClient.escape(pending.identifier))/approve", body)
      let report: ApprovalReportAnswer = try answer.read()
      if host.json {
        Terminal.print(answer.bytes)
      } else {
        Terminal.print("\(report.identifier) approved\(report.inForce ? ", and in force" : "")")
      }
      if index == waiting.count - 1, !report.inForce {
        isInForce = false
        for problem in report.problems { Terminal.note("  \(problem.escapingControlCharacters)") }
      }
    }
    guard isInForce else {
      throw CommandFailure(
        .configuration, "plugins approve", "approved, but not in force", remedy: "correct that, then taskhost reload")
    }
  }

  /// What is to be approved, each once.
  private func waiting(_ client: ControlClient) async throws -> [PendingApprovalAnswer] {
    let plugins: PluginsAnswer = try await client.send("GET", "/v1/plugins", nil).read()
    var fingerprints: Set<String> = []
    var waiting: [PendingApprovalAnswer] = []
    for plugin in plugins.plugins {
      guard let pending = plugin.approval, all || pending.identifier == identifier || plugin.identifier == identifier,
        fingerprints.insert("\(pending.identifier) \(pending.fingerprint)").inserted
      else { continue }
      waiting.append(pending)
    }
    guard let identifier, waiting.isEmpty, !plugins.plugins.contains(where: { $0.identifier == identifier }) else { return waiting }
    throw CommandFailure(
      .refused, "plugins approve", "no plugin waits for approval as \(identifier.escapingControlCharacters)",
      remedy: "see taskhost plugins list; after a change of files, taskhost reload")
  }

  private func ask(_ waiting: [PendingApprovalAnswer]) throws {
    Self.show(waiting) { Terminal.note($0) }
    guard Terminal.canAsk else {
      throw ValidationError("Nobody can be asked here: add --yes to approve this.")
    }
    guard Terminal.agrees("Approve? Write yes:") else {
      Terminal.note("nothing was approved")
      throw ExitCode(ExitStatus.cancelled.rawValue)
    }
  }

  private static func show(_ waiting: [PendingApprovalAnswer], _ print: (String) -> Void) {
    for pending in waiting { for line in lines(pending) { print(line.escapingControlCharacters) } }
  }

  /// What a plugin waits for.
  static func lines(_ pending: PendingApprovalAnswer) -> [String] {
    ["\(pending.identifier) (\(pending.file)) \(pending.running ? "goes on with what it had, until you approve" : "is not loaded"):"]
      + pending.gained.map { "  new: \($0)" } + pending.lost.map { "  no longer: \($0)" }
      + pending.asks.map { "  its author says that it needs: \($0)" }
  }
}
