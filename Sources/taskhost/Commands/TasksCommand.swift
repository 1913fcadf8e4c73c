import ArgumentParser
import StrictText
import TaskHostClient
import TaskModel

struct TasksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "List, explain, cancel, retry, discard and snooze requests.",
    discussion: """
      EXAMPLES
        taskhost tasks
        taskhost tasks list --state failed
        taskhost tasks why "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks cancel --tag nightly
      """,
    subcommands: [
      TasksListCommand.self, TasksShowCommand.self, TasksWhyCommand.self, TasksCancelCommand.self, TasksRetryCommand.self,
      TasksDiscardCommand.self, TasksSnoozeCommand.self,
    ],
    defaultSubcommand: TasksListCommand.self)
}

struct TasksListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List requests, newest first.",
    discussion: """
      \(FilterArgument.help)

      EXAMPLES
        taskhost tasks list state:failed identifier:com.example.* since:2h
        taskhost tasks list 'payload.account:"x y"' state:pending,blocked
        taskhost tasks list --state pending --state running
        taskhost tasks list --identifier org.taskhost.cleanup --limit 10
        taskhost tasks list --tag nightly --json
        taskhost tasks list --problem
      """)

  @OptionGroup var filter: FilterArgument
  @Option(help: ArgumentHelp("Only requests of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(
    name: .customLong("state"),
    help: ArgumentHelp("blocked, pending, running, succeeded, failed or cancelled; may be repeated.", valueName: "state"))
  var states: [String] = []
  @Option(help: ArgumentHelp("Only requests with this tag.", valueName: "tag"))
  var tag: String?
  @Flag(help: "Only requests that need a person: failed permanently, failing repeatedly, or overdue.")
  var problem = false
  @Option(help: ArgumentHelp("The maximum number of requests to list.", valueName: "number"))
  var limit = 100
  @OptionGroup var host: HostOptions

  func run() async throws {
    let query = try filter.query(
      otherwise: [("identifier", identifier), ("tag", tag), ("problem", problem ? "true" : nil)] + states.map { ("state", $0) })
    let requests = try await Listing.rows(of: RequestPage.self, "/v1/requests", query, limit: limit, host)
    if host.json { return }
    let now = MomentText.now
    var table = TextTable(.id("ID"), .name("IDENTIFIER"), "STATE", "WHEN", "REPEATS", "ATTEMPT", "LAST", "TAGS")
    for request in requests {
      table.add(
        request.id, request.identifier, request.shownState, ScheduleText.when(request, now: now),
        ScheduleText.repetition(request.repetition) ?? "-", "\(request.attempt)", request.lastOutcome ?? "-",
        request.tags.joined(separator: ","))
    }
    table.print(empty: "no requests")
  }
}

struct TasksShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show everything about a request.",
    discussion: """
      EXAMPLES
        taskhost tasks show "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks show "$(taskhost submit com.example.report --after 1h)" --json
      """)

  @Argument(help: "The request's id, its beginning, or IDENTIFIER/KEY.")
  var id: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    let id = try await ShortID.request(id, host.client())
    try await host.ask("/v1/requests/\(ControlClient.escape(id))") { FieldList($0).print() }
  }
}

struct TasksSnoozeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze",
    abstract: "Postpone a pending request.",
    discussion: """
      This costs no attempt. Later occurrences of a repeating request do not change.
      With --filter, it postpones every waiting request that matches, a hundred in
      one commit. It asks first, unless --yes is given.

      EXAMPLES
        taskhost tasks snooze --filter 'identifier:com.example.*' --for 1h --dry-run
        taskhost tasks snooze "$(taskhost submit com.example.ci --after 1h)" --for 15m
      """)

  @Argument(help: "The request's id, its beginning, or IDENTIFIER/KEY.")
  var id: String?
  @OptionGroup var bulk: BulkOptions
  @Option(name: .customLong("for"), help: ArgumentHelp("The delay from now: 90s, 15m, 1h30m.", valueName: "duration"))
  var length: String
  @OptionGroup var host: HostOptions

  func validate() throws {
    guard (id == nil) != (bulk.filter == nil) else { throw ValidationError("Name the request: an id, or --filter.") }
  }

  /// The body says for how long as that of a submission does, where the option has another name.
  static let names = OptionNames([RequestField.delay.rawValue: "for"])

  func run() async throws {
    let delay = try TimeArgument.duration(length, "--for")
    if let filter = bulk.filter {
      return try await BulkSession(action: .snooze, filter: filter, delay: delay, options: bulk, host: host).run()
    }
    guard let text = id else { return }
    let client = try host.client(Self.names)
    let id = try await ShortID.request(text, client)
    let answer = try await client.post(
      "/v1/requests/\(ControlClient.escape(id))/snooze", JSONWriter.object { $0.member(RequestField.delay, delay) })
    let request: RequestAnswer = try answer.read()
    Terminal.notes(request.notes ?? [])
    Terminal.print(host.json ? answer.bytes : Array("\(id) \(ScheduleText.when(request, now: MomentText.now))".utf8))
  }
}
