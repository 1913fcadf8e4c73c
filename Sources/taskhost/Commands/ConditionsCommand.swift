import HostControl
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
  static func print(_ answer: ControlClient.Answer, json: Bool, now: Int64) {
    if json { return Terminal.print(answer.bytes) }
    table(answer, now: now).print(empty: "no conditions")
  }

  /// A row for each condition.
  static func table(_ answer: ControlClient.Answer, now: Int64) -> TextTable {
    var table = TextTable("CONDITION", "HOLDS", "SINCE", "OBSERVED")
    for state in answer.node["conditions"]?.array ?? [] {
      let isSet = state["overridden"]?.bool == true
      // What nothing waits for was looked at for this answer alone.
      let isWatched = state["watched"]?.bool == true || isSet
      var holds = state["holds"]?.bool == true ? "yes" : "no"
      if isSet { holds += ", set" } else if state["known"]?.bool == false { holds += ", unknown" }
      let since = state["since_unix_ms"]?.integer.map { MomentText.relative($0, now: now) } ?? ""
      let settles = state["settles_at_unix_ms"]?.integer.map { "; changes \(MomentText.relative($0, now: now)) if it stays so" } ?? ""
      table.add(
        state["name"]?.string ?? "", holds, isWatched ? since : "-", (state["observed"]?.string ?? "") + settles)
    }
    return table
  }
}
