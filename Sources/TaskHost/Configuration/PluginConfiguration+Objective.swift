import CalendarTime
import HostThreads
import StrictText
import TaskModel
import TaskScheduler

extension PluginConfiguration {
  /// Why `expect_within` could not be met, although every run succeeds: the schedule is quiet for as long. Nil if it can be met.
  var objectiveFlaw: String? {
    guard let within = scheduling.expectWithin, let schedule else { return nil }
    let text = DurationText.format(within)
    if let interval = schedule.interval {
      guard within <= interval else { return nil }
      return
        "expect_within (\(text)) is not longer than the schedule's interval (\(DurationText.format(interval))): it would be missed each time"
    }
    guard case .cron(let cron) = schedule.schedule, let expression = try? CronExpression(cron.expression),
      let zone = try? ZoneDirectory().rules(of: cron.timeZone)
    else { return nil }
    let times = CronSchedule(expression, in: zone, daylight: cron.daylight)
    let now = Int(SystemClock().wallTime.unixMilliseconds / 1000)
    guard let gap = times.longestGap(after: now), within <= .seconds(gap.to - gap.from) else { return nil }
    let (from, to) = (WallTime(unixSeconds: gap.from), WallTime(unixSeconds: gap.to))
    guard let shown = RFC3339.format(from), let end = RFC3339.format(to) else { return nil }
    return
      "expect_within (\(text)) is not longer than the schedule's longest pause (\(DurationText.format(to - from)), from \(shown) to \(end)):"
      + " it would be missed there"
  }
}
