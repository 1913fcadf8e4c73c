import ArgumentParser

/// `taskhost simulate launch`
struct SimulateLaunchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launch",
    abstract: "Start an identifier's first pending request, or a new one, now.",
    discussion: """
      It runs whatever gates hold it: its time, a backoff, conditions, a window,
      rates, quotas, keys, resources, the host's slots, the plugin's standing. It is
      refused while the plugin has all the runs it may have at once, while it is
      suspended, and while the host drains.

      EXAMPLES
        taskhost simulate launch org.taskhost.cleanup --wait
      """)

  @Argument(help: "Whose handler is to run.")
  var identifier: String
  @Flag(help: "Follow it until the occurrence has ended.")
  var wait = false
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let client = socketOptions.client()
    let events = wait ? try await client.subscribe() : nil
    let answer = try await client.post("/v1/simulate/launch", SimulateCommand.body(identifier))
    let request: RequestAnswer = try answer.read()
    guard let events else { return Terminal.print(json ? answer.bytes : Array(request.id.utf8)) }
    let session = FollowSession(
      client: client, request: request.id, isRepeating: request.repetition.repeats, json: json ? answer : nil)
    try await session.follow(events)
  }
}
