import HostControl
import ArgumentParser
import TaskModel

/// `taskhost tasks why`
struct TasksWhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Say why a request is not running now.",
    discussion: """
      EXAMPLES
        taskhost tasks why 01976c1e-0000-7000-8000-000000000000
      """)

  @Argument(help: "The request's id.")
  var id: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/requests/\(ControlClient.escape(id))/why")
    if json { return Terminal.print(answer.bytes) }
    let gates = answer.node["gates"]?.array ?? []
    if gates.isEmpty { return Terminal.print("nothing holds it") }
    for gate in gates { Terminal.print((gate.string ?? "").escapingControlCharacters) }
  }
}
