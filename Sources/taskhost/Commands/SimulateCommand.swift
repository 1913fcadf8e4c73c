import ArgumentParser
import StrictText
import TaskHostClient
import TaskModel

struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Start or expire a task's run at once, for development.",
    discussion: """
      EXAMPLES
        taskhost simulate launch org.taskhost.cleanup --wait
        taskhost simulate expire org.taskhost.cleanup
      """,
    subcommands: [SimulateLaunchCommand.self, SimulateExpireCommand.self])

  fileprivate static func body(_ identifier: String) -> [UInt8] { JSONWriter.object { $0.member(RequestField.identifier, identifier) } }
}

struct SimulateLaunchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launch",
    abstract: "Start an identifier's first pending request, or a new one, now.",
    discussion: """
      The request runs even if its time, a backoff, conditions, a window, rates,
      quotas, keys, resources, the host's slots or the plugin's health would hold it.
      The host refuses while the plugin has its maximum of concurrent runs or is
      suspended, and while the host drains.

      EXAMPLES
        taskhost simulate launch org.taskhost.cleanup --wait
      """)

  @Argument(help: "The identifier whose handler is to run.")
  var identifier: String
  @Flag(help: "Follow the request until this occurrence has ended.")
  var wait = false
  @OptionGroup var host: HostOptions

  func run() async throws {
    let client = try host.client()
    let events = wait ? try await client.subscribe() : nil
    let answer = try await client.post("/v1/simulate/launch", SimulateCommand.body(identifier))
    let request: RequestAnswer = try answer.read()
    guard let events else { return Terminal.print(host.json ? answer.bytes : Array(request.id.utf8)) }
    let session = FollowSession(
      client: client, request: request.id, isRepeating: request.repetition.repeats, existed: false, json: host.json ? answer : nil)
    try await session.follow(events)
  }
}

struct SimulateExpireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire",
    abstract: "Expire an identifier's live runs as if their budget were spent.",
    discussion: """
      EXAMPLES
        taskhost simulate expire org.taskhost.cleanup
      """)

  @Argument(help: "The identifier whose runs are to expire.")
  var identifier: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    try await host.ask("/v1/simulate/expire", method: "POST", body: SimulateCommand.body(identifier)) { answer in
      let runs = try answer.read(ExpiredAnswer.self).runs
      if runs.isEmpty { Terminal.note("no run of \(identifier) is live") }
      for run in runs { Terminal.print(run) }
    }
  }
}
