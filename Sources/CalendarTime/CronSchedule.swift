public import TaskModel

/// A cron expression in a time zone.
public struct CronSchedule: Sendable, Hashable {
  /// The local times.
  public let expression: CronExpression
  /// The time zone.
  public let zone: TimeZoneRules
  /// What happens to times that clock changes skip or repeat.
  public let daylight: DaylightPolicy
  private let times: [Int]

  /// The number of days to search for the next time. The longest wait is 40 years: between two leap days on the same weekday, across a
  /// century year without one.
  private static let horizon = 41 * 366

  /// Creates a schedule.
  public init(_ expression: CronExpression, in zone: TimeZoneRules, daylight: DaylightPolicy = DaylightPolicy()) {
    self.expression = expression
    self.zone = zone
    self.daylight = daylight
    times = expression.timesOfDay
  }

  /// The first time after a moment, both in seconds since 1970; nil if there is none within 40 years.
  public func next(after moment: Int) -> Int? {
    // Skipped times can move to the next day (Pacific/Apia skipped all of 2011-12-30).
    let today = floorDivide(moment + zone.offset(at: moment), 86_400)
    var best: Int?
    var day = today - 2
    while day <= today + Self.horizon {
      if let best, best <= firstMoment(of: day) { return best }
      let date = CivilDate(daysSince1970: day)
      guard expression.months & 1 << date.month != 0 else {
        day += CivilDate.days(inMonth: date.month, of: date.year) - date.day + 1
        continue
      }
      if expression.matches(date), let candidate = first(of: day, after: moment) { best = min(candidate, best ?? .max) }
      day += 1
    }
    return best
  }

  /// A lower bound for the moments of this day and all later days.
  private func firstMoment(of day: Int) -> Int { day * 86_400 - TimeZoneRules.widest }

  /// The first of the day's times after a moment; nil if none is left.
  private func first(of day: Int, after moment: Int) -> Int? {
    let midnight = day * 86_400
    let around = zone.stretches(from: midnight - TimeZoneRules.widest, to: midnight + 86_400 + TimeZoneRules.widest)
    guard around.contains(where: { $0.offset != around[0].offset }) else {
      // The clocks do not change around this day: search the list for the first later time.
      var (low, high) = (0, times.count)
      while low < high {
        let middle = (low + high) / 2
        if midnight + times[middle] - around[0].offset <= moment { low = middle + 1 } else { high = middle }
      }
      return low < times.count ? midnight + times[low] - around[0].offset : nil
    }
    return moments(of: midnight, around).filter { $0 > moment }.min()
  }

  private func moments(of midnight: Int, _ around: [TimeZoneRules.Stretch]) -> [Int] {
    times.flatMap { time -> [Int] in
      let (moments, asIfNotSet) = TimeZoneRules.moments(showing: midnight + time, in: around)
      switch (moments.count, daylight.gap, daylight.repeated) {
      case (0, .shift, _): return [asIfNotSet]
      case (0, .skip, _): return []
      case (_, _, .first): return Array(moments.prefix(1))
      case (_, _, .last): return Array(moments.suffix(1))
      case (_, _, .both): return moments
      }
    }
  }
}
