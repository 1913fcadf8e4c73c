import ArgumentParser
import HostThreads
import StrictText
import TaskModel

/// `taskhost conditions set`
struct ConditionsSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Decide whether conditions hold, whatever the machine says, until that is cleared.",
    discussion: """
      For tests and drills. none or false: it does not hold; held, any or true: it holds.
      It stays so after a restart of the host, which warns of it.

      EXAMPLES
        taskhost conditions set network=none
        taskhost conditions set idle=held power=held
      """)

  @Argument(help: ArgumentHelp("A condition and whether it holds.", valueName: "name=value"))
  var overrides: [String]
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().send("PUT", "/v1/conditions", try Self.body(overrides))
    try ConditionsCommand.print(answer, json: json, now: SystemClock().wallTime.unixMilliseconds)
  }

  /// The body of `PUT /v1/conditions`.
  static func body(_ overrides: [String]) throws -> [UInt8] {
    var names: Set<Substring> = []
    return try JSONWriter.object { writer in
      for text in overrides {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else {
          throw ValidationError("'\(text)' is no condition and value: write network=none.")
        }
        guard names.insert(halves[0]).inserted else { throw ValidationError("'\(halves[0])' comes twice: write it once.") }
        writer.member(String(halves[0]), String(halves[1]))
      }
    }
  }
}
