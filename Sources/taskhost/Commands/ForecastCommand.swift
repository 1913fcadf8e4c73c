import ArgumentParser

/// `taskhost forecast`
struct ForecastCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forecast",
    abstract: "What would run in the coming hours, if everything stayed as it is now.",
    discussion: """
      EXAMPLES
        taskhost forecast
        taskhost forecast --hours 3 --json
      """)

  @Option(help: ArgumentHelp("How far to look: 1 to 8784.", valueName: "number"))
  var hours = 24
  @Option(help: ArgumentHelp("At most so many runs.", valueName: "number"))
  var limit = 1000
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/forecast?hours=\(hours)&limit=\(limit)")
    if json { return Terminal.print(answer.bytes) }
    let forecast: ForecastAnswer = try answer.read()
    var runs = TextTable("AT", "", "IDENTIFIER", "TAKES", "REQUEST")
    for entry in forecast.entries {
      runs.add(
        MomentText.local(entry.atUnixMs), MomentText.relative(entry.atUnixMs, now: forecast.fromUnixMs) + (entry.assumed ? "?" : ""),
        entry.identifier, entry.durationMs.map { DurationText.format(milliseconds: $0) } ?? "-", entry.request)
    }
    runs.print(empty: "nothing would run in \(hours == 1 ? "the next hour" : "the next \(hours) hours")")
    if forecast.truncated { Terminal.note("there is more: ask with a higher --limit") }
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
