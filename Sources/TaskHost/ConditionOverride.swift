import TaskModel

/// What an operator decided about one condition, whatever the machine says.
struct ConditionOverride: Sendable, Hashable {
  /// The one condition.
  let condition: Conditions
  /// Whether it holds.
  let holds: Bool
  /// When that was decided first; deciding the same again changes nothing.
  let since: WallTime

  /// For the log and the status: what is in force, and how it ends. An operator wished it, so nobody needs to act.
  var problem: Problem {
    let name = condition.names.joined(separator: ", ")
    return Problem(
      .override, of: name, "the condition \(name) is overridden to \(holds ? "hold" : "not hold"), whatever the machine says",
      remedy: "taskhost conditions clear \(name)", since: since, needsAction: false)
  }
}
