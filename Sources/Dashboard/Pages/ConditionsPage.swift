public import TaskModel

/// The conditions of the machine, and what an operator decided about them.
public enum ConditionsPage {
  /// The page of a report.
  public static func make(_ report: ConditionReport, now: WallTime) -> Page {
    let rows = report.states.map { state -> View in
      let name = state.condition.names.joined(separator: ",")
      func button(_ label: String, _ action: String) -> View { View(button: label, "/ui/conditions/\(name)/\(action)", of: name) }
      var buttons = [button("Let it hold", "hold"), button("Let it not hold", "lose")]
      if state.isOverridden { buttons.append(button("Clear", "clear")) }
      let word = state.isKnown || state.isOverridden ? (state.holds ? "holds" : "does not hold") : "not known; counts as held"
      let settles: View? = View(time: state.settlesAt, now: now).map { ["time": $0] }
      return [
        "name": name, "badge": View(badge: word), "isOverridden": state.isOverridden, "observed": state.observed,
        "time": View(time: state.since, now: now), "buttons": buttons, "settles": settles,
      ]
    }
    let isOverridden = report.states.contains(where: \.isOverridden)
    let clear: View? = isOverridden ? View(button: "Clear all overrides", "/ui/conditions/clear", of: "") : nil
    return Page("Conditions", in: .conditions, "conditions", ["rows": rows, "clearAll": clear], now: now)
  }
}
