import ArgumentParser

/// `taskhost status`
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "One look at the host.",
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
    FieldList(answer).print()
  }
}
