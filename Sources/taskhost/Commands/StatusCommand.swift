import TaskModel
import ArgumentParser
import HostControl

/// `taskhost status`
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "One look at the host, and at what each task did last.",
    discussion: """
      EXAMPLES
        taskhost status
        taskhost status --json
      """)

  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/status")
    if json { return Terminal.print(answer.bytes) }
    let now = ControlServer.systemTime().unixMilliseconds
    FieldList(answer, omitting: ["tasks"], now: now).print()
    let tasks = answer.node["tasks"]?.array ?? []
    guard !tasks.isEmpty else { return }
    Terminal.print("")
    Self.table(tasks, now: now).print(empty: "")
  }

  /// What each identifier did last.
  static func table(_ tasks: [JSONNode], now: Int64) -> TextTable {
    var table = TextTable("IDENTIFIER", "LAST RUN", "ENDED", "NEXT", "MESSAGE")
    for task in tasks {
      table.add(
        task["identifier"]?.string ?? "", lastRun(task),
        task["last_ended_unix_ms"]?.integer.map { MomentText.relative($0, now: now) } ?? "-", next(task, now: now),
        String((task["last_message"]?.string ?? "").prefix(60)))
    }
    return table
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
    guard let next = task["next_start"] else { return "-" }
    return next.value == .null ? "on an event" : task["next_start_unix_ms"]?.integer.map { MomentText.relative($0, now: now) } ?? "-"
  }
}
