import ArgumentParser
import StrictText
import TaskHostClient

struct TransfersListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List transfers, newest first.",
    discussion: """
      EXAMPLES
        taskhost transfers list
        taskhost transfers list --state running
      """)

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp("blocked, pending, paused, running, succeeded, failed or cancelled; may be repeated.", valueName: "state"))
  var states: [String] = []
  @Option(help: ArgumentHelp("The maximum number of transfers to list, at most 1000.", valueName: "number"))
  var limit = 20
  @OptionGroup var host: HostOptions

  func run() async throws {
    let query: [(String, String?)] = states.map { ("state", $0) }
    let transfers = try await Listing.rows(of: TransferPage.self, TransfersCommand.path(), query, atOnce: 1000, limit: limit, host)
    if host.json { return }
    let now = MomentText.now
    var table = TextTable(.id("ID"), "STATE", "WHEN", "DONE", .name("FILE"), .name("ADDRESS"))
    for transfer in transfers {
      let request = transfer.request
      let more = transfer.transfers - 1
      table.add(
        request.id, request.shownState, ScheduleText.when(request, now: now), transfer.amount,
        (transfer.to ?? transfer.from ?? "-") + (more > 0 ? " and \(more) more" : ""), transfer.url ?? "-")
    }
    table.print(empty: "no transfers")
  }
}

struct TransfersShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a transfer, how far it has come, and its last report.",
    discussion: """
      EXAMPLES
        taskhost transfers show "$(taskhost transfers submit https://example.org/a --to a)"
      """)

  @Argument(help: "The transfer's id, its beginning, or IDENTIFIER/KEY.")
  var id: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    let id = try await ShortID.request(id, host.client())
    try await host.ask(TransfersCommand.path(id)) { FieldList($0).print() }
  }
}
