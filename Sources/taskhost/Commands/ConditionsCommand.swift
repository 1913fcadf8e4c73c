import ArgumentParser

/// `taskhost conditions`
struct ConditionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conditions",
    abstract: "What the machine offers to requests that need it: network, power, idle, …",
    discussion: """
      EXAMPLES
        taskhost conditions
        taskhost conditions set network=none
        taskhost conditions clear
      """,
    subcommands: [ConditionsShowCommand.self, ConditionsSetCommand.self, ConditionsClearCommand.self],
    defaultSubcommand: ConditionsShowCommand.self)

  /// Writes what is known of every condition.
  static func print(_ answer: Answer, json: Bool, now: Int64) throws {
    if json { return Terminal.print(answer.bytes) }
    try table(answer.read(), now: now).print(empty: "no conditions")
  }

  /// A row for each condition.
  static func table(_ answer: ConditionsAnswer, now: Int64) -> TextTable {
    var table = TextTable("CONDITION", "HOLDS", "SINCE", "OBSERVED")
    for state in answer.conditions {
      // What nothing waits for was looked at for this answer alone.
      let isWatched = state.watched || state.overridden
      var holds = state.holds ? "yes" : "no"
      if state.overridden { holds += ", set" } else if !state.known { holds += ", unknown" }
      let since = MomentText.relative(state.sinceUnixMs, now: now)
      let settles = state.settlesAtUnixMs.map { "; changes \(MomentText.relative($0, now: now)) if it stays so" } ?? ""
      table.add(state.name, holds, isWatched ? since : "-", state.observed + settles)
    }
    return table
  }
}
