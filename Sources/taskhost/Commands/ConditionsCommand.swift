import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient

struct ConditionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conditions",
    abstract: "Show or set what the machine offers: network, power, idle, …",
    discussion: """
      EXAMPLES
        taskhost conditions
        taskhost conditions set network=none
        taskhost conditions clear
      """,
    subcommands: [ConditionsShowCommand.self, ConditionsSetCommand.self, ConditionsClearCommand.self],
    defaultSubcommand: ConditionsShowCommand.self)

  fileprivate static func show(_ answer: Answer) throws { try table(answer.read(), now: MomentText.now).print(empty: "no conditions") }

  static func table(_ answer: ConditionsAnswer, now: Int64) -> TextTable {
    var table = TextTable("CONDITION", "HOLDS", "SINCE", "OBSERVED")
    for state in answer.conditions {
      // A condition that no request needs was read only for this answer.
      let isWatched = state.watched || state.overridden
      var holds = state.holds ? "yes" : "no"
      if state.overridden { holds += ", set" } else if !state.known { holds += ", unknown" }
      let since = MomentFormat.relative(state.sinceUnixMs, now: now)
      let settles = state.settlesAtUnixMs.map { "; changes \(MomentFormat.relative($0, now: now)) if the reading stays" } ?? ""
      table.add(state.name, holds, isWatched ? since : "-", state.observed + settles)
    }
    return table
  }
}

struct ConditionsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show which conditions hold, since when, and what the host observed.",
    discussion: """
      The host observes a condition while a request needs it. It reads the others
      only for this answer, so they have no "since".

      EXAMPLES
        taskhost conditions show
        taskhost conditions show --json
      """)

  @OptionGroup var host: HostOptions

  func run() async throws { try await host.ask("/v1/conditions", ConditionsCommand.show) }
}

struct ConditionsSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Override whether conditions hold, until you clear the override.",
    discussion: """
      For tests and drills. With none or false, the condition does not hold; with
      held, any or true, it holds. The override survives a restart of the host,
      which then warns about it.

      EXAMPLES
        taskhost conditions set network=none
        taskhost conditions set idle=held power=held
      """)

  @Argument(help: ArgumentHelp("A condition and whether it holds.", valueName: "name=value"))
  var overrides: [String]
  @OptionGroup var host: HostOptions

  func run() async throws { try await host.ask("/v1/conditions", method: "PUT", body: try Self.body(overrides), ConditionsCommand.show) }

  static func body(_ overrides: [String]) throws -> [UInt8] {
    var names: Set<Substring> = []
    return try JSONWriter.object { writer in
      for text in overrides {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else {
          throw ValidationError("'\(text)' is not a condition and a value: write network=none.")
        }
        guard names.insert(halves[0]).inserted else { throw ValidationError("'\(halves[0])' is given twice: write it once.") }
        writer.member(String(halves[0]), String(halves[1]))
      }
    }
  }
}

struct ConditionsClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Clear overrides, so that the machine decides again.",
    discussion: """
      EXAMPLES
        taskhost conditions clear
        taskhost conditions clear network
      """)

  @Argument(help: "The conditions; by default all with an override.")
  var names: [String] = []
  @OptionGroup var host: HostOptions

  func run() async throws {
    try await host.ask(ControlClient.path("/v1/conditions", names.map { ("name", $0) }), method: "DELETE", ConditionsCommand.show)
  }
}
