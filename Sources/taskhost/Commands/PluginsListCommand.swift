import ArgumentParser

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
      columns: ["FILE", "IDENTIFIER", "KIND", "STANDING", "ISOLATION", "RUNNING", "REASON"] + (hasLimits ? ["LIMITS"] : []))
    for plugin in plugins {
      var row = [
        plugin.file.split(separator: "/").last.map(String.init) ?? plugin.file, plugin.identifier ?? "-", plugin.kind ?? "-",
        plugin.standing, plugin.isolation ?? "-", plugin.maxConcurrentRuns.map { "\(plugin.running) of \($0)" } ?? "-",
        reason(of: plugin, now: now),
      ]
      if hasLimits { row.append(limits(of: plugin)) }
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
