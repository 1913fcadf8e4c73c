import CalendarTime
import HostThreads
import SchedulingLimits
import TaskModel
import TaskScheduler

extension LaunchReview {
  /// How many times of a schedule are looked at: three years of days, or two weeks of quarters of an hour.
  private static let mostTimes = 1100

  /// Schedules by the calendar no time of which is in their maintenance window.
  func openings() -> [Finding] {
    configuration.scheduledRequests().sorted { $0.key.description < $1.key.description }.compactMap { name, request in
      guard let window = request.gates.window, let made = try? configuration.windows[window]?.made(),
        case .cron(let cron) = request.repetition.schedule, let expression = try? CronExpression(cron.expression),
        let zone = try? ZoneDirectory().rules(of: cron.timeZone)
      else { return nil }
      let times = CronSchedule(expression, in: zone, daylight: cron.daylight)
      guard let least = Self.leastWait(times, for: made, jitter: request.jitter) else { return nil }
      let within = configuration.plugin(name.identifier.rawValue).scheduling.startWithin
      let isLate = within.map { least > $0 } ?? false
      return Finding(
        .schedules, isLate ? .failure : .warning, of: name.description,
        "no time of its schedule is in its window \(window) (\(made))",
        why: isLate
          ? "each run waits for the window, \(DurationText.format(least)) or more, and misses start_within"
          : "each run waits for the window, \(DurationText.format(least)) or more",
        remedy: "move the schedule into the window, or remove window")
    }
  }

  /// The least time that a run waits until the window opens; nil if it is open at some time of the schedule.
  private static func leastWait(_ times: CronSchedule, for window: MaintenanceWindow, jitter: Duration) -> Duration? {
    var moment = Int(SystemClock().wallTime.unixMilliseconds / 1000)
    var least: Duration?
    for _ in 0..<mostTimes {
      guard let next = times.next(after: moment) else { return least }
      moment = next
      let time = WallTime(unixSeconds: next)
      guard !window.isOpen(at: time), let opening = window.nextOpening(after: time), opening - time > jitter else { return nil }
      least = min(least ?? opening - time, opening - time)
    }
    return least
  }
}
