import ArgumentParser
import HostThreads
import TaskModel

/// `taskhost conditions show`
struct ConditionsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show which conditions hold, since when, and what was seen.",
    discussion: """
      A condition is observed while a request waits for it or runs by it; others are
      looked at for this answer, and have no "since".

      EXAMPLES
        taskhost conditions show
        taskhost conditions show --json
      """)

  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().get("/v1/conditions")
    try ConditionsCommand.print(answer, json: json, now: SystemClock().wallTime.unixMilliseconds)
  }
}
