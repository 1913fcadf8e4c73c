import HostControl
import ArgumentParser

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
    var table = TextTable("FILE", "IDENTIFIER", "KIND", "STANDING", "ISOLATION", "RUNNING", "REASON")
    for plugin in answer.node["plugins"]?.array ?? [] {
      let file = plugin["file"]?.string ?? ""
      let running = plugin["running"]?.integer ?? 0
      table.add(
        file.split(separator: "/").last.map(String.init) ?? file, plugin["identifier"]?.string ?? "-", plugin["kind"]?.string ?? "-",
        plugin["standing"]?.string ?? "", plugin["isolation"]?.string ?? "",
        plugin["max_concurrent_runs"]?.integer.map { "\(running) of \($0)" } ?? "-", plugin["reason"]?["message"]?.string ?? "")
    }
    table.print(empty: "no plugin files were found")
  }
}
