import ArgumentParser
import HostThreads
import TaskModel

/// `taskhost plugins list`
struct PluginsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the plugin files that were found.",
    discussion: """
      EXAMPLES
        taskhost plugins list
        taskhost plugins list --json
      """)

  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/plugins")
    if json { return Terminal.print(answer.bytes) }
    let now = SystemClock().wallTime.unixMilliseconds
    let plugins = try answer.read(PluginsAnswer.self).plugins
    let hasLimits = plugins.contains { $0.quota != nil || $0.rate != nil }
    var table = TextTable(
      columns: ["FILE", "IDENTIFIER", "KIND", "STANDING", "ISOLATION", "RUNNING", "REASON"] + (hasLimits ? ["LIMITS"] : []))
    for plugin in plugins {
      var row = [
        plugin.file.split(separator: "/").last.map(String.init) ?? plugin.file, plugin.identifier ?? "-", plugin.kind ?? "-",
        plugin.standing, plugin.isolation ?? "-", plugin.maxConcurrentRuns.map { "\(plugin.running) of \($0)" } ?? "-",
        Self.reason(of: plugin, now: now),
      ]
      if hasLimits { row.append(Self.limits(of: plugin)) }
      table.add(row: row)
    }
    table.print(empty: "no plugin files were found")
  }

  /// How often and how long it may run.
  private static func limits(of plugin: PluginAnswer) -> String {
    [("rate", plugin.rate), ("quota", plugin.quota)]
      .compactMap { name, text in text.map { "\(name): \($0)" } }.joined(separator: "; ")
  }

  /// Why a plugin takes no runs, or what counted against it last.
  static func reason(of plugin: PluginAnswer, now: Int64) -> String {
    if let reason = plugin.reason { return reason.message }
    let trouble = plugin.lastTrouble
    switch plugin.standing {
    case "quarantined":
      return "\(trouble ?? "it crashed too often"): taskhost plugins release \(plugin.identifier ?? "")"
    case "held":
      let until = plugin.heldUntilUnixMs.map { "runs again \(MomentText.relative($0, now: now))" }
      return [until, trouble].compactMap(\.self).joined(separator: "; ")
    default: return trouble ?? ""
    }
  }
}
