import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient
import TaskModel

struct PauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Let no more runs begin: of everything, or of what a filter selects.",
    discussion: """
      Requests that match wait, and so do those that are submitted later; runs that
      have begun go on. A pause ends at --until, or with `taskhost resume`, and
      survives restarts of the host. Several pauses may hold one request. `tasks why`
      names them, and `status` lists them. To hold a single transfer, see `transfers
      pause`.

      On a host of a fleet, this holds what that host would begin. With --fleet, no
      host of the fleet begins what matches, and the filter selects by identifier.

      \(FilterArgument.help)

      EXAMPLES
        taskhost pause --until 2h --why 'the database moves' --dry-run
        taskhost pause identifier:com.example.* --until 2h --why 'the database moves'
        taskhost pause tag:nightly
        taskhost pause --list
        taskhost resume --all
      """)

  @OptionGroup var filter: FilterArgument
  @Option(
    help: ArgumentHelp("When it ends by itself: 2h (from now), 2026-11-21T08:00:00Z, or '2026-11-21 08:00'.", valueName: "time"))
  var until: String?
  @Option(name: .customLong("why"), help: ArgumentHelp("The reason that tasks why and status show.", valueName: "text"))
  var reason: String?
  @Flag(help: "Pause it on all hosts of the fleet.")
  var fleet = false
  @Flag(help: "Only count what it would hold.")
  var dryRun = false
  @Flag(help: "List the pauses in force.")
  var list = false
  @OptionGroup var host: HostOptions

  func validate() throws {
    _ = try filter.explicit(orElse: "pause everything")
    guard list, filter.text != nil || until != nil || reason != nil || dryRun || fleet else { return }
    throw ValidationError("--list goes with nothing else.")
  }

  func run() async throws {
    if list {
      return try await host.ask("/v1/pauses") { answer in
        Self.table(try answer.read(PausesAnswer.self).pauses, now: MomentText.now).print(empty: "nothing is paused")
      }
    }
    let moment = try until.map { try TimeArgument.future($0, "--until") }
    let body = JSONWriter.object { writer in
      if let text = filter.text { writer.member("filter", text) } else { writer.member("all", true) }
      writer.member("until", moment)
      writer.member("why", reason)
      if fleet { writer.member("fleet", true) }
      if dryRun { writer.member("dry_run", true) }
    }
    try await host.ask("/v1/pauses", method: "POST", body: body) { answer in
      for line in Self.lines(try answer.read(), try answer.read(), now: MomentText.now) { Terminal.print(line) }
    }
  }

  /// What was paused, how many requests wait, and how to resume.
  static func lines(_ pause: PauseAnswer, _ begun: BegunPauseAnswer, now: Int64) -> [String] {
    let end = pause.untilUnixMs.map { " until \(MomentFormat.local($0)) (\(MomentFormat.relative($0, now: now)))" } ?? ""
    let count = (begun.more ? "more than " : "") + (begun.waiting == 1 ? "1 request waits" : "\(begun.waiting) requests wait")
    let runs =
      switch begun.running {
      case 0: ""
      case 1: "; 1 run goes on to its end"
      default: "; \(begun.running) runs go on to their ends"
      }
    guard let id = pause.id else { return ["\(pause.subject) would be paused\(end): \(count)\(runs)"] }
    return ["\(pause.subject) is paused\(end): \(count)\(runs)", "to end it: taskhost resume \(id)"]
  }

  static func table(_ pauses: [PauseAnswer], now: Int64) -> TextTable {
    var table = TextTable("PAUSE", "OF", "SINCE", "UNTIL", "BY", "WHY")
    for pause in pauses {
      table.add(
        pause.id.map { "\($0)" } ?? "-", pause.subject, MomentFormat.relative(pause.sinceUnixMs, now: now),
        pause.untilUnixMs.map { "\(MomentFormat.local($0, omittingDateOf: now)) (\(MomentFormat.relative($0, now: now)))" }
          ?? "taskhost resume \(pause.id ?? 0)",
        pause.by, pause.why ?? "")
    }
    return table
  }
}
