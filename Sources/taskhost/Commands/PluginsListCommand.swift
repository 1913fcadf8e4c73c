import HostControl
import ArgumentParser
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
    let now = ControlServer.systemTime().unixMilliseconds
    var table = TextTable("FILE", "IDENTIFIER", "KIND", "STANDING", "ISOLATION", "RUNNING", "REASON")
    for plugin in answer.node["plugins"]?.array ?? [] {
      let file = plugin["file"]?.string ?? ""
      let running = plugin["running"]?.integer ?? 0
      table.add(
        file.split(separator: "/").last.map(String.init) ?? file, plugin["identifier"]?.string ?? "-", plugin["kind"]?.string ?? "-",
        plugin["standing"]?.string ?? "", plugin["isolation"]?.string ?? "-",
        plugin["max_concurrent_runs"]?.integer.map { "\(running) of \($0)" } ?? "-", Self.reason(of: plugin, now: now))
    }
    table.print(empty: "no plugin files were found")
  }

  /// Why a plugin takes no runs, or what counted against it last.
  static func reason(of plugin: JSONNode, now: Int64) -> String {
    if let message = plugin["reason"]?["message"]?.string { return message }
    let trouble = plugin["last_trouble"]?.string
    switch plugin["standing"]?.string {
    case "quarantined":
      return "\(trouble ?? "it crashed too often"): taskhost plugins release \(plugin["identifier"]?.string ?? "")"
    case "held":
      let until = plugin["held_until_unix_ms"]?.integer.map { "runs again \(MomentText.relative($0, now: now))" }
      return [until, trouble].compactMap(\.self).joined(separator: "; ")
    default: return trouble ?? ""
    }
  }
}
