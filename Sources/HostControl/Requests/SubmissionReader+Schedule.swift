import StrictText
import TaskModel

/// When a request runs, and what wakes it.
extension SubmissionReader {
  /// What a member that says when is about.
  struct ScheduleParts: OptionSet {
    let rawValue: UInt8

    static let begin = ScheduleParts(rawValue: 1 << 0)
    static let deadline = ScheduleParts(rawValue: 1 << 1)
    static let event = ScheduleParts(rawValue: 1 << 2)
    static let repetition = ScheduleParts(rawValue: 1 << 3)
  }

  /// Members that say when.
  static let scheduleMembers: [String: ScheduleParts] = [
    "earliest_begin": .begin, "earliest_begin_unix_ms": .begin, "delay_ms": .begin, "deadline": .deadline, "deadline_unix_ms": .deadline,
    "event": .event, "watch": .event, "debounce_ms": .event, "every_event": [.event, .repetition], "every_ms": .repetition,
    "cron": .repetition, "time_zone": .repetition, "daylight_gap": .repetition, "daylight_repeat": .repetition, "missed": .repetition,
    "missed_limit": .repetition, "missed_spread_ms": .repetition,
  ]
  /// How many missed occurrences `all` runs where `missed_limit` does not say.
  static let presetMissedLimit = 10
  /// How far apart `all` runs them where `missed_spread_ms` does not say.
  static let presetMissedSpread = Duration.seconds(60)

  /// Reads the members that say when, which are about `parts`.
  func readSchedule(_ node: JSONNode, _ parts: ScheduleParts, into request: inout TaskRequest) throws(RequestRefusal) {
    if parts.contains(.begin) { try readBegin(node, into: &request) }
    if parts.contains(.deadline), let (name, value) = try oneOf(Self.deadlineMembers, in: node) {
      request.deadline = try moment(name, value)
    }
    if parts.contains(.event) { try readEvent(node, into: &request) }
    if parts.contains(.repetition) { try readRepetition(node, into: &request) }
  }

  private static let beginMembers = ["delay_ms", "earliest_begin_unix_ms", "earliest_begin"]
  private static let deadlineMembers = ["deadline", "deadline_unix_ms"]

  /// A delay follows the boot clock, a moment the calendar.
  private func readBegin(_ node: JSONNode, into request: inout TaskRequest) throws(RequestRefusal) {
    guard let (name, value) = try oneOf(Self.beginMembers, in: node) else { return }
    if name == "delay_ms" {
      request.earliestBegin = now + (try milliseconds(value, name))
      request.clock = .boot
    } else {
      request.earliestBegin = try moment(name, value)
      request.clock = .wall
    }
  }

  private func readEvent(_ node: JSONNode, into request: inout TaskRequest) throws(RequestRefusal) {
    guard let (name, value) = try oneOf(["event", "watch"], in: node) else {
      return try refuse(["debounce_ms", "every_event"], in: node, because: "is about an event: name one, or a file to watch")
    }
    let event = name == "watch" ? EventTrigger.filePrefix + (try path(value, name)) : try eventName(value, name)
    request.event = EventTrigger(event)
    if let debounce = node["debounce_ms"] { request.event?.debounce = try milliseconds(debounce, "debounce_ms") }
  }

  private func eventName(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> String {
    let name = try text(node, field)
    if let flaw = EventName.flaw(of: name) { throw failure(field, flaw) }
    return name
  }

  private func path(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> String {
    let path = try text(node, field)
    if let flaw = EventName.flaw(ofPath: path) { throw failure(field, flaw) }
    return path
  }

  private func readRepetition(_ node: JSONNode, into request: inout TaskRequest) throws(RequestRefusal) {
    let everyEvent = try node["every_event"].map { value throws(RequestRefusal) in try truth(value, "every_event") } ?? false
    guard let (name, value) = try oneOf(["every_ms", "cron"] + (everyEvent ? ["every_event"] : []), in: node) else {
      return try refuse(
        ["time_zone", "daylight_gap", "daylight_repeat", "missed", "missed_limit", "missed_spread_ms"], in: node,
        because: "is about a request that repeats: send every_ms or cron")
    }
    if name != "cron" {
      try refuse(["time_zone", "daylight_gap", "daylight_repeat"], in: node, because: "is about the calendar: send cron, not \(name)")
    }
    switch name {
    case "every_event":
      try refuse(["missed", "missed_limit", "missed_spread_ms"], in: node, because: "is about times that were missed: an event has none")
      request.repetition = RepeatRule(.event)
      return
    case "every_ms": request.repetition = RepeatRule(every: try milliseconds(value, name, atLeast: 1))
    default: request.repetition = RepeatRule(.cron(try cron(value, of: node)))
    }
    if request.event != nil {
      throw failure(name, "a request waits for its times or for an event: send every_event to run at every event")
    }
    request.repetition?.missed = try missed(node)
  }

  private func cron(_ value: JSONNode, of node: JSONNode) throws(RequestRefusal) -> CronRule {
    var rule = CronRule(try key(value, "cron"), timeZone: "")
    if let zone = node["time_zone"] { rule.timeZone = try key(zone, "time_zone") } else { rule.timeZone = hostTimeZone() }
    if let gap = node["daylight_gap"] { rule.daylight.gap = try named(gap, "daylight_gap", DaylightPolicy.Gap.self) }
    if let repeated = node["daylight_repeat"] {
      rule.daylight.repeated = try named(repeated, "daylight_repeat", DaylightPolicy.Repeated.self)
    }
    return rule
  }

  private func missed(_ node: JSONNode) throws(RequestRefusal) -> MissedPolicy {
    let name = try node["missed"].map { value throws(RequestRefusal) in try text(value, "missed") } ?? "latest"
    guard MissedPolicy.names.contains(name) else { throw failure("missed", noSuchName(name, among: MissedPolicy.names)) }
    guard name == "all" else {
      try refuse(["missed_limit", "missed_spread_ms"], in: node, because: "is about \"missed\": \"all\"")
      return name == "skip" ? .skip : .latest
    }
    var limit = Self.presetMissedLimit
    var spread = Self.presetMissedSpread
    if let value = node["missed_limit"] { limit = try integer(value, "missed_limit", in: Limits.missedRuns) }
    if let value = node["missed_spread_ms"] { spread = try milliseconds(value, "missed_spread_ms") }
    return .all(limit: limit, spread: spread)
  }

  /// The one of several members that is there, with its value; nil: none is.
  private func oneOf(_ names: [String], in node: JSONNode) throws(RequestRefusal) -> (name: String, value: JSONNode)? {
    guard case .object(let members) = node.value, let first = members.firstIndex(where: { names.contains($0.name) }) else { return nil }
    guard !members[(first + 1)...].contains(where: { names.contains($0.name) }) else {
      let given = names.filter { node[$0] != nil }
      throw failure(given[1], "\(given.joined(separator: " and ")) exclude each other: send one")
    }
    return (members[first].name, members[first].node)
  }

  /// Refuses the first of the members that is there.
  private func refuse(_ names: [String], in node: JSONNode, because reason: String) throws(RequestRefusal) {
    if let name = names.first(where: { node[$0] != nil }) { throw failure(name, reason) }
  }
}
