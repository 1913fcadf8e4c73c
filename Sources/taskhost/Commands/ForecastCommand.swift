import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient

struct ForecastCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forecast",
    abstract: "Show what would run in the coming hours if nothing changed.",
    discussion: """
      There is a line for each request, with its next run and how many follow; --runs
      shows each run. A moment with ? rests on an assumption.

      EXAMPLES
        taskhost forecast
        taskhost forecast --identifier org.taskhost.cleanup --runs
        taskhost forecast --hours 3 --json
      """)

  @Option(help: ArgumentHelp("How many hours to look ahead: 1 to 8784.", valueName: "number"))
  var hours = 24
  @Option(help: ArgumentHelp("Only the runs of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Flag(help: "Show each run, not only the next one of each request.")
  var runs = false
  @Option(help: ArgumentHelp("The maximum number of runs in the answer; each request's first comes before others.", valueName: "number"))
  var limit = 1000
  @OptionGroup var host: HostOptions

  func run() async throws {
    let query = [("hours", "\(hours)"), ("limit", "\(limit)"), ("identifier", identifier)]
    try await host.ask(ControlClient.path("/v1/forecast", query)) { show(try $0.read()) }
  }

  private func show(_ forecast: ForecastAnswer) {
    let table = runs ? Self.runs(of: forecast) : Self.requests(of: forecast)
    table.print(empty: "nothing would run in \(hours == 1 ? "the next hour" : "the next \(hours) hours")")
    if forecast.truncated, !forecast.entries.isEmpty {
      let time = MomentFormat.local(forecast.completeUntilUnixMs, omittingDateOf: forecast.fromUnixMs)
      let remedy = forecast.entries.count >= limit ? "; use a higher --limit for more" : ""
      Terminal.note(runs ? "all runs until \(time) are listed\(remedy)" : "RUNS with a + counts those until \(time)")
    }
    if !forecast.held.isEmpty {
      if !forecast.entries.isEmpty { Terminal.print("") }
      Terminal.print("would not run:")
      var table = TextTable(.name("IDENTIFIER"), .id("REQUEST"), "BECAUSE")
      for held in Self.alike(forecast.held) {
        table.add(held.first.identifier, held.first.request, held.first.reason + (held.more > 0 ? " (and \(held.more) more)" : ""))
      }
      table.print(empty: "")
    }
    Terminal.notes(forecast.notes)
  }

  /// Requests of one identifier that do not run for the same reason are one row: there may be thousands.
  private static func alike(_ held: [ForecastAnswer.Held]) -> [(first: ForecastAnswer.Held, more: Int)] {
    let groups = Dictionary(grouping: held) { [$0.identifier, $0.reason] }
    var told: Set<[String]> = []
    return held.compactMap { one in
      let group = [one.identifier, one.reason]
      return told.insert(group).inserted ? (one, (groups[group]?.count ?? 1) - 1) : nil
    }
  }

  /// Each run.
  private static func runs(of forecast: ForecastAnswer) -> TextTable {
    var table = TextTable("AT", "", .name("IDENTIFIER"), "TAKES", .id("REQUEST"))
    for entry in forecast.entries { table.add(row: cells(entry, in: forecast)) }
    return table
  }

  /// The next run of each request, and how many there are.
  private static func requests(of forecast: ForecastAnswer) -> TextTable {
    var table = TextTable("NEXT", "", .name("IDENTIFIER"), "TAKES", "RUNS", .id("REQUEST"))
    let counts = Dictionary(forecast.requests.map { ($0.request, $0.runs) }) { first, _ in first }
    var told: Set<String> = []
    for entry in forecast.entries where told.insert(entry.request).inserted {
      var row = cells(entry, in: forecast)
      row.insert("\(counts[entry.request] ?? 1)\(forecast.truncated ? "+" : "")", at: row.count - 1)
      table.add(row: row)
    }
    return table
  }

  private static func cells(_ entry: ForecastAnswer.Entry, in forecast: ForecastAnswer) -> [String] {
    [
      MomentFormat.local(entry.atUnixMs, omittingDateOf: forecast.fromUnixMs),
      MomentFormat.relative(entry.atUnixMs, now: forecast.fromUnixMs) + (entry.assumed ? "?" : ""), entry.identifier,
      entry.durationMs.map { DurationFormat.words(milliseconds: $0) } ?? "-", entry.request,
    ]
  }
}
