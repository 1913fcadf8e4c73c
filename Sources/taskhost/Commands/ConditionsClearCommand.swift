import ArgumentParser
import HostThreads
import TaskModel

/// `taskhost conditions clear`
struct ConditionsClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Let the machine say again whether conditions hold.",
    discussion: """
      EXAMPLES
        taskhost conditions clear
        taskhost conditions clear network
      """)

  @Argument(help: "The conditions; none: all that were set.")
  var names: [String] = []
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let query = names.map { "name=\(ControlClient.escape($0))" }.joined(separator: "&")
    let answer = try await socketOptions.client().send("DELETE", "/v1/conditions" + (query.isEmpty ? "" : "?\(query)"))
    try ConditionsCommand.print(answer, json: json, now: SystemClock().wallTime.unixMilliseconds)
  }
}
