import HostControl
import ArgumentParser

/// `taskhost tasks retry`
struct TasksRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Make a failed request pending again, with all its attempts.",
    discussion: """
      EXAMPLES
        taskhost tasks retry 01976c1e-0000-7000-8000-000000000000
      """)

  @Argument(help: "The request's id.")
  var id: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().post("/v1/requests/\(ControlClient.escape(id))/retry")
    if json { return Terminal.print(answer.bytes) }
    Terminal.print("\(id) \(answer.node["state"]?.string ?? "")")
  }
}
