import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient
import TaskModel

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the host, its problems, and what each schedule did last.",
    discussion: """
      Exits 0 if no problem needs a person, otherwise 1. A problem marked with !
      needs a person; one marked with - is a warning.

      EXAMPLES
        taskhost status
        taskhost status --json
      """)

  @OptionGroup var host: HostOptions

  func run() async throws {
    let answer = try await host.client().get("/v1/status")
    let status: StatusAnswer = try answer.read()
    if host.json { Terminal.print(answer.bytes) } else { Self.print(answer, status) }
    if status.needsAction { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  private static func print(_ answer: Answer, _ status: StatusAnswer) {
    let now = MomentText.now
    FieldList(answer, omitting: ["tasks", "problems", "warnings", "assertions", "pauses", "objectives"], now: now).print()
    if !status.problems.isEmpty { Terminal.print("") }
    for line in problems(status.problems, now: now) { Terminal.print(line) }
    if let pauses = status.pauses, !pauses.isEmpty {
      Terminal.print("")
      PauseCommand.table(pauses, now: now).print(empty: "")
    }
    if let held = status.assertions, !held.isEmpty {
      Terminal.print("")
      assertions(held, now: now).print(empty: "")
    }
    guard !status.tasks.isEmpty else { return }
    Terminal.print("")
    table(status.tasks, now: now).print(empty: "")
    let throttled = throttled(status.tasks, now: now)
    if !throttled.isEmpty { Terminal.print("") }
    for line in throttled { Terminal.print(line) }
  }

  /// A line for each identifier with a due request that a limit holds: which limit, and when it lets the request run.
  static func throttled(_ tasks: [ScheduleAnswer], now: Int64) -> [String] {
    var told: Set<String> = []
    return tasks.compactMap { task in
      guard let gate = task.throttled, told.insert(task.identifier).inserted else { return nil }
      let next = gate.untilUnixMs.map { "; next at \(MomentFormat.local($0)) (\(MomentFormat.relative($0, now: now)))" } ?? ""
      let isNamed = gate.sentence.hasPrefix(task.identifier)
      return "throttled: \(isNamed ? "" : "\(task.identifier): ")\(gate.sentence)\(next)".escapingControlCharacters
    }
  }

  /// Two lines for each problem: the observation and the remedy.
  static func problems(_ problems: [ProblemAnswer], now: Int64) -> [String] {
    problems.flatMap { problem in
      let mark = problem.needsAction ? "!" : "-"
      let kind = problem.kind.replacing("_", with: " ")
      let since = problem.sinceUnixMs.map { " (\(MomentFormat.relative($0, now: now)))" } ?? ""
      return ["\(mark) \(kind)\(since): \(problem.message)", "    \(problem.remedy)"].map(\.escapingControlCharacters)
    }
  }

  /// Who asks the host not to end now.
  static func assertions(_ held: [AssertionAnswer], now: Int64) -> TextTable {
    var table = TextTable("HELD BY", "SINCE", "FOR AT MOST", .name("HOLDER"), "USER", "REASON")
    for assertion in held {
      table.add(
        assertion.name, MomentFormat.relative(assertion.sinceUnixMs, now: now), DurationFormat.words(milliseconds: assertion.remainingMs),
        holder(of: assertion), assertion.userId.map { "\($0)" } ?? "-", assertion.reason ?? "")
    }
    return table
  }

  /// The plugin and the run that took it, or the process that it stands for.
  private static func holder(of assertion: AssertionAnswer) -> String {
    if let identifier = assertion.identifier { return "\(identifier) run \(assertion.run ?? "-")" }
    return assertion.processId.map { "process \($0)" } ?? "-"
  }

  static func table(_ tasks: [ScheduleAnswer], now: Int64) -> TextTable {
    // Most tasks count nothing: the column is there if one does.
    let hasWork = tasks.contains { $0.lastWork != nil }
    let columns: [TextTable.Column] = [.name("IDENTIFIER"), "SCHEDULE", "LAST RUN", "ENDED", "LAST SUCCESS", "FAILED", "NEXT"]
    var table = TextTable(columns: columns + (hasWork ? ["LAST WORK"] : []) + ["MESSAGE"])
    func time(_ moment: Int64?) -> String { moment.map { MomentFormat.relative($0, now: now) } ?? "-" }
    for row in ScheduleRow.rows(of: tasks) {
      let task = row.task
      let work = hasWork ? [task.lastWork.map { WorkText.words($0) } ?? "-"] : []
      let cells = [
        task.identifier, row.schedule, lastRun(task), time(task.lastEndedUnixMs), time(task.lastSuccessUnixMs),
        task.failuresInARow > 0 ? "\(task.failuresInARow) in a row" : "-", ScheduleText.next(task, now: now),
      ]
      table.add(row: cells + work + [String((task.lastMessage ?? "").prefix(60))])
    }
    return table
  }

  /// `every 6h`, `nightly`, `nightly: 0 8 * * * Europe/Berlin`; `-` for requests without a key that run once.
  static func schedule(_ task: ScheduleAnswer) -> String {
    let key = ScheduleText.configured(task).map(\.name) ?? task.uniqueKey.map { String($0.prefix(40)) }
    let parts = [key, ScheduleText.repetition(task.repetition)].compactMap(\.self)
    if parts.isEmpty { return task.uniqueKey == nil ? "-" : "taskhost.toml" }
    return parts.joined(separator: ": ")
  }

  /// `never ran`, `nothing to do`, `expired`, or the outcome; marked if the run expired and returned within its grace.
  static func lastRun(_ task: ScheduleAnswer) -> String {
    let word =
      switch task.last {
      case "never": "never ran"
      case "noop": "nothing to do"
      default: task.last
      }
    return task.expired == true && task.last != "expired" ? "\(word) (expired)" : word
  }
}
