import CalendarTime
import StrictText
import TaskHostClient
import TaskModel

enum ScheduleText {
  /// `every 6h`, `0 8 * * * Europe/Berlin`, `every event`; nil if it runs once.
  static func repetition(_ rule: Repetition) -> String? {
    if let interval = rule.everyMs { return "every \(DurationFormat.words(milliseconds: interval))" }
    if let cron = rule.cron {
      return [cron, rule.timeZone].compactMap(\.self).joined(separator: " ").escapingControlCharacters
    }
    return rule.everyEvent == true ? "every event" : nil
  }

  /// When a request that was just submitted starts: `starts in 4 min, then every 6h`.
  ///
  /// - Parameters:
  ///   - schedule: The schedule as the host stores it.
  ///   - waited: What the request waits for besides its time, as far as the submitter knows.
  static func start(of schedule: EffectiveAnswer, waitingFor waited: String?, now: Int64) -> String {
    var parts = [first(schedule, waitingFor: waited, now: now)]
    if let repetition = repetition(schedule.repetition) { parts.append("then \(repetition)") }
    if let deadline = schedule.deadlineUnixMs {
      parts.append("deadline \(MomentFormat.local(deadline)) (\(MomentFormat.relative(deadline, now: now)))")
    }
    return parts.joined(separator: ", ")
  }

  private static func first(_ schedule: EffectiveAnswer, waitingFor waited: String?, now: Int64) -> String {
    guard let start = schedule.nextStartUnixMs else {
      return "waits for \((waited ?? "an event or another request").escapingControlCharacters)"
    }
    var text = start <= now ? "starts now" : "starts \(MomentFormat.local(start)) (\(MomentFormat.relative(start, now: now)))"
    if let latest = schedule.latestStartUnixMs, latest > start {
      text += " or up to \(DurationFormat.words(milliseconds: latest - start)) later"
    }
    return text
  }

  /// The schedule's name in the configuration, if it is from there.
  static func configured(_ task: ScheduleAnswer) -> ScheduleName? {
    (try? TaskIdentifier(task.identifier)).flatMap { ScheduleName(key: task.uniqueKey, of: $0) }
  }

  /// When a schedule starts next: `in 4 min`, `on an event`; `-` if it does not.
  static func next(_ task: ScheduleAnswer, now: Int64) -> String {
    switch task.nextStartUnixMs {
    // A configured schedule repeats, so it ends only if it is cancelled or removed from the configuration.
    case .none: configured(task) != nil && task.request == nil ? "cancelled" : "-"
    case .unknown: "on an event"
    case .at(let unixMs): MomentFormat.relative(unixMs, now: now)
    }
  }

  /// When a request runs, ran or is woken, for a list.
  static func when(_ request: RequestAnswer, now: Int64) -> String {
    let moment: Int64?
    switch request.state {
    case "succeeded", "failed", "cancelled": moment = request.endedUnixMs
    case "running": moment = request.startedUnixMs
    case "blocked": return "after another"
    default:
      moment = request.dueUnixMs
      if let due = moment, due < now {
        let text = MomentFormat.relative(due, now: now)
        return text == "now" ? text : "due \(text)"
      }
    }
    if let moment { return MomentFormat.relative(moment, now: now) }
    if let event = request.event { return "on \(event.prefix(40))" }
    return request.watch.map { "on \($0.suffix(40))" } ?? ""
  }
}
