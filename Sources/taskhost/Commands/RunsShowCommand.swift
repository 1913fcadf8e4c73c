import ArgumentParser

/// `taskhost runs show`
struct RunsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show all of a run but its log.",
    discussion: """
      EXAMPLES
        taskhost runs show "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
      """)

  @Argument(help: "The run's id.")
  var id: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/runs/\(ControlClient.escape(id))")
    if json { return Terminal.print(answer.bytes) }
    FieldList(answer).print()
  }
}
