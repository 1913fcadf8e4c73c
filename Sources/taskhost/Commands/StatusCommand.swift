import TaskModel
import ArgumentParser
import HostControl

/// `taskhost status`
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "One look at the host, its problems, and what each schedule did last.",
    discussion: """
      Exits 0 when nothing needs a person, 1 when something does: problems marked
      with ! are for a person, those marked with - are warnings.

      EXAMPLES
        taskhost status
        taskhost status --json
      """)

  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/status")
    if json { Terminal.print(answer.bytes) } else { Self.print(answer) }
    if answer.node["needs_action"]?.bool == true { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  private static func print(_ answer: ControlClient.Answer) {
    let now = ControlServer.systemTime().unixMilliseconds
    FieldList(answer, omitting: ["tasks", "problems", "warnings"], now: now).print()
    let problems = problems(answer.node["problems"]?.array ?? [], now: now)
    if !problems.isEmpty { Terminal.print("") }
    for line in problems { Terminal.print(line) }
    let tasks = answer.node["tasks"]?.array ?? []
    guard !tasks.isEmpty else { return }
    Terminal.print("")
    table(tasks, now: now).print(empty: "")
  }

  /// Two lines each: what was seen, and what to do.
  static func problems(_ problems: [JSONNode], now: Int64) -> [String] {
    problems.flatMap { problem in
      let mark = problem["needs_action"]?.bool == true ? "!" : "-"
      let kind = (problem["kind"]?.string ?? "").replacing("_", with: " ")
      let since = problem["since_unix_ms"]?.integer.map { " (\(MomentText.relative($0, now: now)))" } ?? ""
      return [
        "\(mark) \(kind)\(since): \((problem["message"]?.string ?? "").escapingControlCharacters)",
        "    \((problem["remedy"]?.string ?? "").escapingControlCharacters)",
      ]
    }
  }

  /// What each schedule did last.
  static func table(_ tasks: [JSONNode], now: Int64) -> TextTable {
    var table = TextTable("IDENTIFIER", "SCHEDULE", "LAST RUN", "ENDED", "LAST SUCCESS", "FAILED", "NEXT", "MESSAGE")
    func time(_ task: JSONNode, _ name: String) -> String {
      task[name]?.integer.map { MomentText.relative($0, now: now) } ?? "-"
    }
    for task in tasks {
      let failures = task["failures_in_a_row"]?.integer ?? 0
      table.add(
        task["identifier"]?.string ?? "", schedule(task), lastRun(task), time(task, "last_ended_unix_ms"),
        time(task, "last_success_unix_ms"), failures > 0 ? "\(failures) in a row" : "-", next(task, now: now),
        String((task["last_message"]?.string ?? "").prefix(60)))
    }
    return table
  }

  /// `every 6h`, `nightly`, `nightly: 0 8 * * * Europe/Berlin`; `-` for requests without a key that run once.
  private static func schedule(_ task: JSONNode) -> String {
    let key = isConfigured(task) ? nil : task["unique_key"]?.string.map { String($0.prefix(40)) }
    let parts = [key, ScheduleText.repetition(task)].compactMap(\.self)
    if parts.isEmpty { return task["unique_key"] == nil ? "-" : "taskhost.toml" }
    return parts.joined(separator: ": ")
  }

  /// Whether it is the schedule that the configuration has for an identifier.
  private static func isConfigured(_ task: JSONNode) -> Bool {
    task["unique_key"]?.string == "config:\(task["identifier"]?.string ?? "")"
  }

  /// `never ran`, `nothing to do`, `expired`, or the outcome; with a mark where its time was up and it returned in its grace.
  private static func lastRun(_ task: JSONNode) -> String {
    let outcome = task["last"]?.string ?? ""
    let word =
      switch outcome {
      case "never": "never ran"
      case "noop": "nothing to do"
      default: outcome
      }
    return task["expired"]?.bool == true && outcome != "expired" ? "\(word) (expired)" : word
  }

  private static func next(_ task: JSONNode, now: Int64) -> String {
    guard let next = task["next_start"] else {
      // What the configuration asks for repeats: it ends only where somebody cancels it, or takes it out there.
      return isConfigured(task) && task["request"]?.string == nil ? "cancelled" : "-"
    }
    return next.value == .null ? "on an event" : task["next_start_unix_ms"]?.integer.map { MomentText.relative($0, now: now) } ?? "-"
  }
}
