import ArgumentParser
import HostControl
import TaskModel

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
    let node = answer.node
    let from = node["from_unix_ms"]?.integer ?? 0
    var runs = TextTable("AT", "", "IDENTIFIER", "TAKES", "REQUEST")
    for entry in node["entries"]?.array ?? [] {
      let at = entry["at_unix_ms"]?.integer ?? 0
      runs.add(
        MomentText.local(at), MomentText.relative(at, now: from) + (entry["assumed"]?.bool == true ? "?" : ""),
        entry["identifier"]?.string ?? "", entry["duration_ms"]?.integer.map { DurationText.format(milliseconds: $0) } ?? "-",
        entry["request"]?.string ?? "")
    }
    runs.print(empty: "nothing would run in \(hours == 1 ? "the next hour" : "the next \(hours) hours")")
    if node["truncated"]?.bool == true { Terminal.note("there is more: ask with a higher --limit") }
    let held = node["held"]?.array ?? []
    if !held.isEmpty {
      if node["entries"]?.array?.isEmpty == false { Terminal.print("") }
      Terminal.print("would not run:")
      var table = TextTable("IDENTIFIER", "REQUEST", "BECAUSE")
      for request in held {
        table.add(request["identifier"]?.string ?? "", request["request"]?.string ?? "", request["reason"]?.string ?? "")
      }
      table.print(empty: "")
    }
    for note in node["notes"]?.array ?? [] { Terminal.note("note: \((note.string ?? "").escapingControlCharacters)") }
  }
}
