import ArgumentParser

/// `taskhost tasks show`
struct TasksShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show all of a request.",
    discussion: """
      EXAMPLES
        taskhost tasks show "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks show "$(taskhost submit com.example.report --after 1h)" --json
      """)

  @Argument(help: "The request's id.")
  var id: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/requests/\(ControlClient.escape(id))")
    if json { return Terminal.print(answer.bytes) }
    FieldList(answer).print()
  }
}
