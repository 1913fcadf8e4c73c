import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient

struct RunsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "Show the history: the runs, their outcomes and logs.",
    discussion: """
      EXAMPLES
        taskhost runs
        taskhost runs show "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
        taskhost runs logs -f "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
      """,
    subcommands: [RunsListCommand.self, RunsShowCommand.self, RunsLogsCommand.self],
    defaultSubcommand: RunsListCommand.self)
}

struct RunsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List runs, live ones first, then newest first.",
    discussion: """
      A filter selects by words: identifier:com.example.* outcome:failed,crashed
      request:ID since:2h until:1h. --since and --until select runs by their start: a
      moment, or how long ago. With --json and a limit above 10,000, the answer comes
      in pages, one per line.

      EXAMPLES
        taskhost runs list identifier:org.taskhost.* outcome:failed since:1d
        taskhost runs list --identifier org.taskhost.cleanup
        taskhost runs list --outcome failed --outcome crashed --since 24h
        taskhost runs list --since '2026-11-21 22:00' --until '2026-11-22 06:00'
        taskhost runs list --request "$(taskhost submit com.example.report)" --json
      """)

  @OptionGroup var filter: FilterArgument
  @Option(help: ArgumentHelp("Only runs of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(help: ArgumentHelp("Only runs of this request.", valueName: "id"))
  var request: String?
  @Option(
    name: .customLong("outcome"),
    help: ArgumentHelp(
      "succeeded, noop, snoozed, retried, failed, expired, cancelled, stopped, crashed or lost; may be repeated.", valueName: "outcome"))
  var outcomes: [String] = []
  @Option(help: ArgumentHelp("Only runs that started at this time or later.", valueName: "time"))
  var since: String?
  @Option(help: ArgumentHelp("Only runs that started before this time.", valueName: "time"))
  var until: String?
  @Option(help: ArgumentHelp("The maximum number of runs to list.", valueName: "number"))
  var limit = 100
  @OptionGroup var host: HostOptions

  func run() async throws {
    let now = MomentText.now
    var wanted = request
    if let request { wanted = try await ShortID.request(request, host.client()) }
    let query = [
      ("identifier", identifier), ("request", wanted), ("since", try since.map { try TimeArgument.past($0, "--since") }),
      ("until", try until.map { try TimeArgument.past($0, "--until") }),
    ]
    let runs = try await Listing.rows(
      of: RunPage.self, "/v1/runs", try filter.query(otherwise: query + outcomes.map { ("outcome", $0) }), limit: limit, host)
    if host.json { return }
    let namesHosts = runs.contains { $0.host != nil }
    var table = TextTable(
      columns: [.id("ID"), .name("IDENTIFIER")] + (namesHosts ? ["HOST"] : []) + ["OUTCOME", "STARTED", "TOOK", "MESSAGE"])
    for run in runs {
      table.add(
        row: [run.id, run.identifier] + (namesHosts ? [run.host ?? ""] : []) + [
          run.outcome ?? "running", MomentFormat.relative(run.startedUnixMs, now: now),
          run.durationMs.map { DurationFormat.words(milliseconds: $0) } ?? "", String((run.message ?? "").prefix(60)),
        ])
    }
    table.print(empty: "no runs")
  }
}

struct RunsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show everything about a run except its log.",
    discussion: """
      EXAMPLES
        taskhost runs show "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
      """)

  @Argument(help: "The run's id.")
  var id: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    let id = try await ShortID.run(id, host.client())
    try await host.ask("/v1/runs/\(ControlClient.escape(id))") { FieldList($0).print() }
  }
}
