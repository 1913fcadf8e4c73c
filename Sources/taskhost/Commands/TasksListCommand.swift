import ArgumentParser
import HostControl
import TaskModel

/// `taskhost tasks list`
struct TasksListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List requests, newest first.",
    discussion: """
      EXAMPLES
        taskhost tasks list --state pending --state running
        taskhost tasks list --identifier org.taskhost.cleanup --limit 10
        taskhost tasks list --tag nightly --json
      """)

  @Option(help: ArgumentHelp("Only those of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(
    name: .customLong("state"),
    help: ArgumentHelp("blocked, pending, running, succeeded, failed or cancelled; may be repeated.", valueName: "state"))
  var states: [String] = []
  @Option(help: ArgumentHelp("Only those with this tag.", valueName: "tag"))
  var tag: String?
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 100
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    var query = "limit=\(limit)"
    for (name, value) in [("identifier", identifier), ("tag", tag)] + states.map({ ("state", Optional($0)) }) {
      if let value { query += "&\(name)=\(ControlClient.escape(value))" }
    }
    let answer = try await socketOptions.client().get("/v1/requests?\(query)")
    if json { return Terminal.print(answer.bytes) }
    let now = ControlServer.systemTime().unixMilliseconds
    var table = TextTable("ID", "IDENTIFIER", "STATE", "WHEN", "REPEATS", "ATTEMPT", "LAST", "TAGS")
    for request in answer.node["requests"]?.array ?? [] {
      table.add(
        request["id"]?.string ?? "", request["identifier"]?.string ?? "", request["state"]?.string ?? "",
        ScheduleText.when(request, now: now), ScheduleText.repetition(request) ?? "-",
        request["attempt"]?.integer.map(String.init) ?? "", request["last_outcome"]?.string ?? "-",
        (request["tags"]?.array ?? []).compactMap(\.string).joined(separator: ","))
    }
    table.print(empty: "no requests")
  }
}
