import ArgumentParser
import TaskModel

/// `taskhost runs logs`
struct RunsLogsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logs",
    abstract: "Print the last lines of a run's log.",
    discussion: """
      EXAMPLES
        taskhost runs logs "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
        taskhost runs logs -f "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
      """)

  @Argument(help: "The run's id.")
  var id: String
  @Flag(name: .shortAndLong, help: "Go on until the run has ended.")
  var follow = false
  @Flag(help: "Print JSON: the host's answer, or with -f one line of the log a line.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let client = socketOptions.client()
    let path = "/v1/runs/\(ControlClient.escape(id))"
    guard follow else {
      let answer = try await client.get("\(path)/logs")
      if json { return Terminal.print(answer.bytes) }
      for line in try answer.read(LogAnswer.self).lines { show(line) }
      return
    }
    func run() async throws -> RunAnswer { try await client.get(path).read() }
    // Subscribed before the log is read: a line may then come twice, but none is missed.
    let events = try await client.subscribe(request: try await run().request)
    var shown: [LogLineAnswer: Int] = [:]
    for line in try await client.get("\(path)/logs").read(LogAnswer.self).lines {
      show(line)
      shown[line.value, default: 0] += 1
    }
    if try await run().outcome != nil { return }
    for try await case .event(let name, let data) in events {
      switch try StreamEvent(name, client.answer(data)) {
      case .missed:
        Terminal.note("some lines are missing: they came faster than they could be shown")
        if try await run().outcome != nil { return }
      case .run(let run) where run.id == id && run.outcome != nil: return
      case .log(let event) where event.run == id:
        if let count = shown[event.line.value], count > 0 {
          shown[event.line.value] = count - 1
        } else {
          show(event.line)
        }
      default: break
      }
    }
    throw CommandFailure(.noHost, client.socket, "the host went away", remedy: "start it again: taskhost run")
  }

  private func show(_ quoted: Quoted<LogLineAnswer>) {
    if json, follow { return Terminal.print(quoted.json.bytes) }
    let line = quoted.value
    let text = (line.stream.map { "\($0): " } ?? "") + line.message
    Terminal.print("\(MomentText.local(line.timeUnixMs)) \(line.level) \(text.escapingControlCharacters)")
  }
}
