import ArgumentParser
import StrictText
import TaskModel

/// `taskhost simulate`
struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Launch or expire a task at once, while developing.",
    discussion: """
      EXAMPLES
        taskhost simulate launch org.taskhost.cleanup --wait
        taskhost simulate expire org.taskhost.cleanup
      """,
    subcommands: [SimulateLaunchCommand.self, SimulateExpireCommand.self])

  /// The body `{"identifier": …}`.
  static func body(_ identifier: String) -> [UInt8] {
    JSONWriter.object { $0.member(RequestField.identifier, identifier) }
  }
}
