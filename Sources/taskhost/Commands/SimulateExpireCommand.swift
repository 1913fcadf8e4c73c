import ArgumentParser

/// `taskhost simulate expire`
struct SimulateExpireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire",
    abstract: "Expire an identifier's live runs as if their budget were spent.",
    discussion: """
      EXAMPLES
        taskhost simulate expire org.taskhost.cleanup
      """)

  @Argument(help: "Whose runs are to expire.")
  var identifier: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().post("/v1/simulate/expire", SimulateCommand.body(identifier))
    if json { return Terminal.print(answer.bytes) }
    let runs = try answer.read(ExpiredAnswer.self).runs
    if runs.isEmpty { Terminal.note("nothing of \(identifier) is running") }
    for run in runs { Terminal.print(run) }
  }
}
