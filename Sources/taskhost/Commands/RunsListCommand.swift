import ArgumentParser
import HostThreads
import TaskModel

/// `taskhost runs list`
struct RunsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List runs, the live ones first, then newest first.",
    discussion: """
      --since and --until are about when a run started: a moment, or how long ago.
      With --json and a limit above 10,000 the answer comes in pages, one a line.

      EXAMPLES
        taskhost runs list --identifier org.taskhost.cleanup
        taskhost runs list --outcome failed --outcome crashed --since 24h
        taskhost runs list --since '2026-11-21 22:00' --until '2026-11-22 06:00'
        taskhost runs list --request "$(taskhost submit com.example.report)" --json
      """)

  @Option(help: ArgumentHelp("Only those of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(help: ArgumentHelp("Only those of this request.", valueName: "id"))
  var request: String?
  @Option(
    name: .customLong("outcome"),
    help: ArgumentHelp(
      "succeeded, noop, snoozed, retried, failed, expired, cancelled, stopped, crashed or lost; may be repeated.", valueName: "outcome"))
  var outcomes: [String] = []
  @Option(help: ArgumentHelp("Only those that started then or later.", valueName: "time"))
  var since: String?
  @Option(help: ArgumentHelp("Only those that started before then.", valueName: "time"))
  var until: String?
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 100
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let now = SystemClock().wallTime.unixMilliseconds
    let moments = [
      ("since", try since.map { try TimeArgument.past($0, "--since") }), ("until", try until.map { try TimeArgument.past($0, "--until") }),
    ]
    let query = ([("identifier", identifier), ("request", request)] + moments + outcomes.map { ("outcome", Optional($0)) })
      .compactMap { name, value in value.map { "\(name)=\(ControlClient.escape($0))" } }.joined(separator: "&")
    let runs = try await Listing.rows(
      socketOptions.client(), query.isEmpty ? "/v1/runs" : "/v1/runs?\(query)", of: RunPage.self, limit: limit, json: json)
    if json { return }
    var table = TextTable("ID", "IDENTIFIER", "OUTCOME", "STARTED", "TOOK", "MESSAGE")
    for run in runs {
      table.add(
        run.id, run.identifier, run.outcome ?? "running", MomentText.relative(run.startedUnixMs, now: now),
        run.durationMs.map { DurationText.format(milliseconds: $0) } ?? "", String((run.message ?? "").prefix(60)))
    }
    table.print(empty: "no runs")
  }
}
