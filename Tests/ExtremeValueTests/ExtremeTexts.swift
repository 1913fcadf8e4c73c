/// A request in JSON whose every number may be extreme, or none at all.
struct SubmissionText {
  let text: String

  private static let numbers = [
    "earliest_begin_unix_ms", "delay_ms", "deadline_unix_ms", "flex_ms", "jitter_ms", "priority", "every_ms", "debounce_ms", "missed_limit",
    "missed_spread_ms", "unique_window_ms",
  ]
  private static let others = [
    "\"earliest_begin\": \"0000-01-01T00:00:00Z\"", "\"earliest_begin\": \"9999-12-31T23:59:59.999-23:59\"",
    "\"deadline\": \"1969-12-31T23:59:59Z\"", "\"missed\": \"all\"", "\"event\": \"e\"", "\"every_event\": true",
    "\"cron\": \"59 23 31 12 *\"", "\"unique_key\": \"k\"", "\"on_conflict\": \"keep\"",
  ]

  init(_ extremes: inout Extremes) {
    var members = ["\"identifier\": \"org.example.task\""]
    for _ in 0..<extremes.index(below: 4) {
      if extremes.once(in: 3) {
        members.append(Self.others[extremes.index(below: Self.others.count)])
      } else {
        members.append("\"\(Self.numbers[extremes.index(below: Self.numbers.count)])\": \(Self.number(&extremes))")
      }
    }
    if extremes.once(in: 4) {
      members.append(
        "\"retry\": {\"attempts\": \(Self.number(&extremes)), \"initial_ms\": \(Self.number(&extremes)), "
          + "\"maximum_ms\": \(Self.number(&extremes))}"
      )
    }
    if extremes.once(in: 6) { members.append("\"resources\": {\"gpu\": \(Self.number(&extremes))}") }
    text = "{" + members.joined(separator: ", ") + "}"
  }

  private static func number(_ extremes: inout Extremes) -> String {
    let others = ["1e999", "-1e999", "1e-999", "-0", "0.5", "9223372036854775808", "18446744073709551615", "NaN", "null", "\"1\""]
    return extremes.once(in: 5) ? others[extremes.index(below: others.count)] : "\(extremes.number())"
  }
}

/// A configuration whose every number may be extreme.
struct ConfigurationText {
  let text: String

  private static let durations = ["minimum_interval", "launch_budget", "drain_timeout"]
  private static let integers = ["max_concurrent_runs", "max_pending"]

  init(_ extremes: inout Extremes) {
    var lines: [String] = []
    if extremes.once(in: 2) {
      lines.append("\(Self.durations[extremes.index(below: 3)]) = \"\(Self.duration(&extremes))\"")
    }
    if extremes.once(in: 2) { lines.append("\(Self.integers[extremes.index(below: 2)]) = \(Self.number(&extremes))") }
    if extremes.once(in: 3) { lines.append("rate_limit = \"\(extremes.number())/\(Self.duration(&extremes))\"") }
    if extremes.once(in: 3) { lines += ["[retry]", "initial = \"\(Self.duration(&extremes))\"", "attempts = \(Self.number(&extremes))"] }
    if extremes.once(in: 3) { lines += ["[history]", "keep = \"\(Self.duration(&extremes))\"", "runs = \(Self.number(&extremes))"] }
    if extremes.once(in: 4) {
      lines += ["[conditions]", "idle_load = \(Self.number(&extremes))", "idle_every = \"\(Self.duration(&extremes))\""]
    }
    lines.append("[plugin.\"org.example.task\"]")
    if extremes.once(in: 2) { lines.append("schedule = \"every \(Self.duration(&extremes))\"") }
    if extremes.once(in: 3) { lines.append("quota = \"\(Self.duration(&extremes)) per \(Self.duration(&extremes))\"") }
    if extremes.once(in: 3) { lines.append("budget = \"\(Self.duration(&extremes))\"") }
    if extremes.once(in: 3) { lines.append("limits.memory = \(Self.number(&extremes))") }
    text = lines.joined(separator: "\n") + "\n"
  }

  private static func duration(_ extremes: inout Extremes) -> String {
    let units = ["ms", "s", "m", "h", "d"]
    // Mostly one that is allowed in most places, so that some files are read.
    if extremes.once(in: 2) { return ["1h", "20m", "30d", "1s"][extremes.index(below: 4)] }
    return "\(extremes.number())\(units[extremes.index(below: units.count)])"
  }

  private static func number(_ extremes: inout Extremes) -> String {
    let others = ["nan", "inf", "-inf", "1e308", "9223372036854775808", "0x7fffffffffffffff"]
    return extremes.once(in: 5) ? others[extremes.index(below: others.count)] : "\(extremes.number())"
  }
}
