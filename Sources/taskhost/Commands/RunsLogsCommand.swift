import ArgumentParser
import HostControl
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
    guard follow, let request = try await client.get(path).node["request"]?.string else {
      let answer = try await client.get("\(path)/logs")
      if json { return Terminal.print(answer.bytes) }
      for line in answer.node["lines"]?.array ?? [] { show(line, in: answer) }
      return
    }
    // Subscribed before the log is read: a line may then come twice, but none is missed.
    let events = try await client.subscribe(request: request)
    let written = try await client.get("\(path)/logs")
    var shown: [String: Int] = [:]
    for line in written.node["lines"]?.array ?? [] {
      show(line, in: written)
      shown[Self.key(line), default: 0] += 1
    }
    if try await client.get(path).node["outcome"] != nil { return }
    for try await case .event(let name, let data) in events {
      let event = try client.answer(data)
      if name == "missed" {
        Terminal.note("some lines are missing: they came faster than they could be shown")
        if try await client.get(path).node["outcome"] != nil { return }
      }
      if name == "run", event.node["id"]?.string == id, event.node["outcome"] != nil { return }
      guard name == "log", event.node["run"]?.string == id, let line = event.node["line"] else { continue }
      if let count = shown[Self.key(line)], count > 0 {
        shown[Self.key(line)] = count - 1
      } else {
        show(line, in: event)
      }
    }
    throw CommandFailure(.noHost, client.socket, "the host went away", remedy: "start it again: taskhost run")
  }

  /// What makes a line the same wherever it is read.
  private static func key(_ line: JSONNode) -> String {
    "\(line["time_unix_ms"]?.integer ?? 0) \(line["level"]?.string ?? "") \(line["message"]?.string ?? "")"
  }

  private func show(_ line: JSONNode, in answer: ControlClient.Answer) {
    if json, follow { return Terminal.print(answer.raw(line)) }
    let time = line["time_unix_ms"]?.integer.map(MomentText.local) ?? ""
    let stream = line["stream"]?.string.map { "\($0): " } ?? ""
    Terminal.print("\(time) \(line["level"]?.string ?? "") \((stream + (line["message"]?.string ?? "")).escapingControlCharacters)")
  }
}
