import ArgumentParser
import CalendarTime
import TaskHostClient
import TaskModel

struct PluginsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins",
    abstract: "Show which plugins are loaded or refused, and why; tools for authors.",
    discussion: """
      EXAMPLES
        taskhost plugins
        taskhost plugins release org.taskhost.cleanup
        taskhost plugins check ./hello-c.so
      """,
    subcommands: [
      PluginsListCommand.self, PluginsInspectCommand.self, PluginsNewCommand.self, PluginsCheckCommand.self, PluginsReleaseCommand.self,
      PluginsDebugCommand.self, PluginsApproveCommand.self, PluginsRevokeCommand.self, PluginsInstallCommand.self,
      PluginsRemoveCommand.self,
      PluginsRollbackCommand.self,
      PluginsKeygenCommand.self, PluginsSignCommand.self, PluginsVerifyCommand.self,
    ],
    defaultSubcommand: PluginsListCommand.self)
}

struct PluginsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the plugin files that were found.",
    discussion: """
      EXAMPLES
        taskhost plugins list
        taskhost plugins list --json
      """)

  @OptionGroup var host: HostOptions

  func run() async throws {
    try await host.ask("/v1/plugins") { Self.show(try $0.read(PluginsAnswer.self).plugins, now: MomentText.now) }
  }

  private static func show(_ plugins: [PluginAnswer], now: Int64) {
    let hasLimits = plugins.contains { $0.quota != nil || $0.rate != nil }
    var table = TextTable(
      columns: [.name("FILE"), .name("IDENTIFIER"), "KIND", "STANDING", "ISOLATION", "RUNNING", "REASON"] + (hasLimits ? ["LIMITS"] : []))
    for plugin in plugins {
      var row = [
        fileName(of: plugin), plugin.identifier ?? plugin.approval?.identifier ?? "-", plugin.kind ?? "-",
        plugin.standing, plugin.isolation ?? "-", plugin.maxConcurrentRuns.map { "\(plugin.running) of \($0)" } ?? "-",
        reason(of: plugin, now: now),
      ]
      if hasLimits { row.append(limits(of: plugin)) }
      table.add(row: row)
    }
    table.print(empty: "no plugin files were found")
  }

  /// The name of the plugin's file, or of a command's program.
  private static func fileName(of plugin: PluginAnswer) -> String {
    let path = plugin.command?.first ?? plugin.file
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The plugin's rate and quota.
  private static func limits(of plugin: PluginAnswer) -> String {
    [("rate", plugin.rate), ("quota", plugin.quota)]
      .compactMap { name, text in text.map { "\(name): \($0)" } }.joined(separator: "; ")
  }

  /// Why a plugin takes no runs, or its last failure.
  static func reason(of plugin: PluginAnswer, now: Int64) -> String {
    if let reason = plugin.reason { return reason.message }
    if let pending = plugin.approval {
      return "\(pending.gained.joined(separator: "; ")): taskhost plugins approve \(pending.identifier)"
    }
    let trouble = plugin.lastTrouble
    switch plugin.standing {
    case "quarantined":
      return "\(trouble ?? "it crashed too often"): taskhost plugins release \(plugin.identifier ?? "")"
    case "held":
      let until = plugin.heldUntilUnixMs.map { "runs again \(MomentFormat.relative($0, now: now))" }
      return [until, trouble].compactMap(\.self).joined(separator: "; ")
    default: return trouble ?? ""
    }
  }
}

struct PluginsReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Release a held or quarantined plugin, so that it runs again.",
    discussion: """
      The host holds a plugin back after each consecutive crash or forced stop,
      longer each time, and quarantines it after the fifth.

      EXAMPLES
        taskhost plugins release org.taskhost.cleanup
      """)

  @Argument(help: "The plugin's identifier.")
  var identifier: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    try await host.ask("/v1/plugins/\(ControlClient.escape(identifier))/release", method: "POST") { answer in
      Terminal.print(Self.sentence(try answer.read(), identifier: identifier))
    }
  }

  static func sentence(_ answer: ReleaseAnswer, identifier: String) -> String {
    let wasQuarantined = answer.quarantinedSinceUnixMs != nil
    guard answer.strikes > 0 || wasQuarantined || answer.heldUntilUnixMs != nil || answer.hostCrashes > 0 else {
      return "\(identifier) was not held, and no crash or forced stop counted against it"
    }
    let standing = wasQuarantined ? "was quarantined" : "was held back"
    let failures = max(answer.strikes, answer.hostCrashes)
    let count = failures == 1 ? "1 crash or forced stop" : "\(failures) crashes or forced stops"
    let last = answer.lastTrouble.map { "; last: \($0.escapingControlCharacters)" } ?? ""
    return "\(identifier) released: it \(standing) after \(count)\(last)"
  }
}
