import HostControl
import TaskModel

/// Schedules in words, from the members of the host's answers.
enum ScheduleText {
  /// Whether a request, or an effective schedule, comes again.
  static func isRepeating(_ node: JSONNode) -> Bool { node["every_ms"] != nil || node["cron"] != nil || node["every_event"] != nil }

  /// `every 6h`, `0 8 * * * Europe/Berlin`, `every event`; nil: it runs once.
  static func repetition(_ node: JSONNode) -> String? {
    if let interval = node["every_ms"]?.integer { return "every \(DurationText.format(milliseconds: interval))" }
    if let cron = node["cron"]?.string {
      return [cron, node["time_zone"]?.string].compactMap(\.self).joined(separator: " ").escapingControlCharacters
    }
    return node["every_event"] == nil ? nil : "every event"
  }

  /// When a request that was just submitted starts: `starts in 4 min, then every 6h`.
  ///
  /// - Parameters:
  ///   - answer: The answer to the submission.
  ///   - waited: What it waits for besides its time, as far as whoever submitted it knows.
  static func start(of answer: JSONNode, waitingFor waited: String?, now: Int64) -> String {
    let effective = answer["effective"] ?? answer
    var parts = [first(effective, waitingFor: waited, now: now)]
    if let repetition = repetition(effective) { parts.append("then \(repetition)") }
    if let deadline = effective["deadline_unix_ms"]?.integer {
      parts.append("deadline \(MomentText.local(deadline)) (\(MomentText.relative(deadline, now: now)))")
    }
    return parts.joined(separator: ", ")
  }

  private static func first(_ effective: JSONNode, waitingFor waited: String?, now: Int64) -> String {
    guard let start = effective["next_start_unix_ms"]?.integer else {
      return "waits for \((waited ?? "an event or another request").escapingControlCharacters)"
    }
    var text = start <= now ? "starts now" : "starts \(MomentText.local(start)) (\(MomentText.relative(start, now: now)))"
    if let latest = effective["latest_start_unix_ms"]?.integer, latest > start {
      text += " or up to \(DurationText.format(milliseconds: latest - start)) later"
    }
    return text
  }

  /// When a request runs, ran or is woken, in the words of a list.
  static func when(_ request: JSONNode, now: Int64) -> String {
    let moment: String
    switch request["state"]?.string {
    case "succeeded", "failed", "cancelled": moment = "ended_unix_ms"
    case "running": moment = "started_unix_ms"
    case "blocked": return "after another"
    default: moment = "due_unix_ms"
    }
    if let time = request[moment]?.integer {
      let text = MomentText.relative(time, now: now)
      return moment == "due_unix_ms" && time < now && text != "now" ? "due \(text)" : text
    }
    if let event = request["event"]?.string { return "on \(event.prefix(40))" }
    return request["watch"]?.string.map { "on \($0.suffix(40))" } ?? ""
  }
}
