import TaskModel
import ArgumentParser
import HostControl

/// `taskhost runs list`
struct RunsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List runs, the live ones first, then newest first.",
    discussion: """
      EXAMPLES
        taskhost runs list --identifier org.taskhost.cleanup
        taskhost runs list --request 01976c1e-0000-7000-8000-000000000000 --json
      """)

  @Option(help: ArgumentHelp("Only those of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(help: ArgumentHelp("Only those of this request.", valueName: "id"))
  var request: String?
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 100
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    var query = "limit=\(limit)"
    for (name, value) in [("identifier", identifier), ("request", request)] {
      if let value { query += "&\(name)=\(ControlClient.escape(value))" }
    }
    let answer = try await socketOptions.client().get("/v1/runs?\(query)")
    if json { return Terminal.print(answer.bytes) }
    let now = ControlServer.systemTime().unixMilliseconds
    var table = TextTable("ID", "IDENTIFIER", "OUTCOME", "STARTED", "TOOK", "MESSAGE")
    for run in answer.node["runs"]?.array ?? [] {
      table.add(
        run["id"]?.string ?? "", run["identifier"]?.string ?? "", run["outcome"]?.string ?? "running",
        run["started_unix_ms"]?.integer.map { MomentText.relative($0, now: now) } ?? "",
        run["duration_ms"]?.integer.map { DurationText.format(milliseconds: $0) } ?? "",
        String((run["message"]?.string ?? "").prefix(60)))
    }
    table.print(empty: "no runs")
  }
}
