import ArgumentParser
import CalendarTime
import StrictText

struct ForecastCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forecast",
    abstract: "Show what would run in the coming hours if nothing changed.",
    discussion: """
      EXAMPLES
        taskhost forecast
        taskhost forecast --hours 3 --json
      """)

  @Option(help: ArgumentHelp("How many hours to look ahead: 1 to 8784.", valueName: "number"))
  var hours = 24
  @Option(help: ArgumentHelp("The maximum number of runs to show.", valueName: "number"))
  var limit = 1000
  @OptionGroup var host: HostOptions

  func run() async throws {
    try await host.ask("/v1/forecast?hours=\(hours)&limit=\(limit)") { show(try $0.read()) }
  }

  private func show(_ forecast: ForecastAnswer) {
    var runs = TextTable("AT", "", "IDENTIFIER", "TAKES", "REQUEST")
    for entry in forecast.entries {
      runs.add(
        MomentFormat.local(entry.atUnixMs), MomentFormat.relative(entry.atUnixMs, now: forecast.fromUnixMs) + (entry.assumed ? "?" : ""),
        entry.identifier, entry.durationMs.map { DurationFormat.words(milliseconds: $0) } ?? "-", entry.request)
    }
    runs.print(empty: "nothing would run in \(hours == 1 ? "the next hour" : "the next \(hours) hours")")
    if forecast.truncated { Terminal.note("there are more runs: use a higher --limit") }
    if !forecast.held.isEmpty {
      if !forecast.entries.isEmpty { Terminal.print("") }
      Terminal.print("would not run:")
      var table = TextTable("IDENTIFIER", "REQUEST", "BECAUSE")
      for held in forecast.held { table.add(held.identifier, held.request, held.reason) }
      table.print(empty: "")
    }
    Terminal.notes(forecast.notes)
  }
}
