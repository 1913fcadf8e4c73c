import ArgumentParser
import CalendarTime
import TaskHostClient
import TaskModel

struct RunsLogsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logs",
    abstract: "Print the last lines of a run's log.",
    discussion: """
      With --follow and --json, each line of the log is printed as JSON. At a
      terminal, --follow also shows the run's progress and work, on standard error.

      EXAMPLES
        taskhost runs logs "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
        taskhost runs logs -f "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
      """)

  @Argument(help: "The run's id.")
  var id: String
  @Flag(name: .shortAndLong, help: "Print new lines until the run has ended.")
  var follow = false
  @OptionGroup var host: HostOptions

  func run() async throws {
    let client = try host.client()
    let id = try await ShortID.run(id, host.client())
    let path = "/v1/runs/\(ControlClient.escape(id))"
    guard follow else {
      return try await host.ask("\(path)/logs") { answer in
        for line in try answer.read(LogAnswer.self).lines { show(line) }
      }
    }
    func run() async throws -> RunAnswer { try await client.get(path).read() }
    // Subscribe before reading the log: a line may then appear twice, but none is missed.
    let events = try await client.subscribe(request: try await run().request)
    var shown: [LogLineAnswer: Int] = [:]
    for line in try await client.get("\(path)/logs").read(LogAnswer.self).lines {
      show(line)
      shown[line.value, default: 0] += 1
    }
    let present = try await run()
    if present.outcome != nil { return }
    var line = ProgressLine()
    defer { line.clear() }
    if let progress = present.progress { line.show(progress) }
    if let work = present.work { line.show(work) }
    for try await case .event(let name, let data) in events {
      switch try StreamEvent(name, client.answer(data)) {
      case .missed:
        line.clear()
        Terminal.note("some lines are missing: they arrived faster than they could be shown")
        if try await run().outcome != nil { return }
      case .run(let run) where run.id == id && run.outcome != nil: return
      case .progress(let event) where event.run == id: line.show(event.progress)
      case .work(let event) where event.run == id: line.show(event.work)
      case .log(let event) where event.run == id:
        if let count = shown[event.line.value], count > 0 {
          shown[event.line.value] = count - 1
        } else {
          line.clear()
          show(event.line)
          line.draw()
        }
      default: break
      }
    }
    throw client.gone
  }

  private func show(_ quoted: Quoted<LogLineAnswer>) {
    if host.json { return Terminal.print(quoted.json.bytes) }
    Terminal.print(Self.text(quoted.value))
  }

  /// A line of a log for people.
  static func text(_ line: LogLineAnswer) -> String {
    let text = (line.stream.map { "\($0): " } ?? "") + line.message
    return "\(MomentFormat.local(line.timeUnixMs)) \(line.level) \(text.escapingControlCharacters)"
  }
}
