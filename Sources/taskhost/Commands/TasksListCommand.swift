import ArgumentParser
import HostThreads
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
        taskhost tasks list --problem
      """)

  @Option(help: ArgumentHelp("Only those of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(
    name: .customLong("state"),
    help: ArgumentHelp("blocked, pending, running, succeeded, failed or cancelled; may be repeated.", valueName: "state"))
  var states: [String] = []
  @Option(help: ArgumentHelp("Only those with this tag.", valueName: "tag"))
  var tag: String?
  @Flag(help: "Only those that need a person: failed for good, failing again and again, or overdue.")
  var problem = false
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 100
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let query = ([("identifier", identifier), ("tag", tag), ("problem", problem ? "true" : nil)] + states.map { ("state", Optional($0)) })
      .compactMap { name, value in value.map { "\(name)=\(ControlClient.escape($0))" } }.joined(separator: "&")
    let requests = try await Listing.rows(
      socketOptions.client(), query.isEmpty ? "/v1/requests" : "/v1/requests?\(query)", of: RequestPage.self, limit: limit, json: json)
    if json { return }
    let now = SystemClock().wallTime.unixMilliseconds
    var table = TextTable("ID", "IDENTIFIER", "STATE", "WHEN", "REPEATS", "ATTEMPT", "LAST", "TAGS")
    for request in requests {
      table.add(
        request.id, request.identifier, request.state, ScheduleText.when(request, now: now),
        ScheduleText.repetition(request.repetition) ?? "-", "\(request.attempt)", request.lastOutcome ?? "-",
        request.tags.joined(separator: ","))
    }
    table.print(empty: "no requests")
  }
}
