import CalendarTime
import TaskModel

/// Computes the times of repeating requests. Caches parsed cron expressions and time zones.
final class Occurrences {
  private let zones: @Sendable (String) throws(ZoneDirectory.Failure) -> TimeZoneRules
  private var schedules: [CronRule: Result<CronSchedule, RequestRefusal>] = [:]

  init(zones: @escaping @Sendable (String) throws(ZoneDirectory.Failure) -> TimeZoneRules) { self.zones = zones }

  /// Refuses a rule with an invalid expression or time zone, or one without any occurrence.
  func check(_ rule: RepeatRule) throws(RequestRefusal) {
    guard case .cron(let cron) = rule.schedule else { return }
    if try schedule(of: cron).get().next(after: 0) == nil {
      throw RequestRefusal(.invalid, "cron \"\(cron.expression)\": no date ever matches it", field: .cron)
    }
  }

  /// The first occurrence after `now`; `occurrence` itself if it is still to come; `distantFuture` if the rule waits for an event or its
  /// time zone cannot be read.
  func next(_ rule: RepeatRule, after occurrence: WallTime, now: WallTime) -> WallTime {
    switch rule.schedule {
    case .every(let interval): RepeatRule.next(every: interval, after: occurrence, now: now)
    case .cron: occurrence > now ? occurrence : following(rule, now)
    case .event: .distantFuture
    }
  }

  /// The next occurrence after `occurrence`: one of the schedule's occurrences or, for a calendar schedule, any moment.
  func following(_ rule: RepeatRule, _ occurrence: WallTime) -> WallTime {
    switch rule.schedule {
    case .every(let interval): return occurrence + max(.milliseconds(1), interval)
    case .event: return .distantFuture
    case .cron(let cron):
      guard let schedule = try? schedule(of: cron).get(), let next = schedule.next(after: seconds(occurrence)) else {
        return .distantFuture
      }
      return WallTime(unixSeconds: next)
    }
  }

  /// A moment by `now` which the same occurrences follow as `occurrence`: that itself if it has passed.
  func passed(_ rule: RepeatRule, like occurrence: WallTime, by now: WallTime) -> WallTime {
    guard occurrence > now, case .every(let interval) = rule.schedule else { return min(occurrence, now) }
    let step = max(1, interval.wholeMilliseconds)
    let ahead = (occurrence - now).wholeMilliseconds
    return occurrence.moved(by: .milliseconds(-step) * ((ahead - 1) / step + 1))
  }

  /// The time between the runs of missed occurrences: `spread`, but at most half the interval of the schedule. Otherwise new occurrences
  /// would fall due faster than the missed ones run.
  func step(_ rule: RepeatRule, after occurrence: WallTime, spread: Duration) -> Duration {
    min(spread, .milliseconds((following(rule, occurrence) - occurrence).wholeMilliseconds / 2))
  }

  /// The latest occurrence by `now`, starting from `occurrence`, which has passed.
  func latest(_ rule: RepeatRule, from occurrence: WallTime, by now: WallTime) -> WallTime {
    latest(rule, from: occurrence, by: now, count: 1)[0]
  }

  /// The latest `count` occurrences by `now`, at least one, earliest first, starting from `occurrence`, which has passed.
  func latest(_ rule: RepeatRule, from occurrence: WallTime, by now: WallTime, count: Int) -> [WallTime] {
    switch rule.schedule {
    case .event: return [occurrence]
    case .every(let interval):
      let step = max(1, interval.wholeMilliseconds)
      let last = RepeatRule.next(every: interval, after: occurrence, now: now) + .milliseconds(-step)
      guard last > occurrence else { return [occurrence] }
      let steps = (last - occurrence).wholeMilliseconds / step
      let first = max(0, steps.subtracting(saturating: Int64(count) - 1))
      return (first...steps).map { occurrence + .milliseconds(step) * $0 }
    case .cron:
      // Look back in growing steps until there are enough.
      var window = Duration.seconds(3600)
      while true {
        let begin = max(occurrence, now + (.zero - window))
        var found: [WallTime] = begin == occurrence ? [occurrence] : []
        var time = following(rule, begin)
        while time <= now {
          found.append(time)
          time = following(rule, time)
        }
        if begin == occurrence || found.count >= count { return Array(found.suffix(max(1, count))) }
        window = window * 8
      }
    }
  }

  private func seconds(_ time: WallTime) -> Int {
    Int(clamping: Int64((Double(time.unixMilliseconds) / 1000).rounded(.down)))
  }

  private func schedule(of cron: CronRule) -> Result<CronSchedule, RequestRefusal> {
    if let known = schedules[cron] { return known }
    let made = Result { () throws(RequestRefusal) -> CronSchedule in
      do {
        return CronSchedule(try CronExpression(cron.expression), in: try zones(cron.timeZone), daylight: cron.daylight)
      } catch let error as CronSyntaxError {
        throw RequestRefusal(.invalid, error.description, field: .cron)
      } catch {
        throw RequestRefusal(.invalid, "\(error)", field: .timeZone)
      }
    }
    // A zone that could not be read may be available later.
    if schedules.count > 1000 { schedules.removeAll() }
    if case .success = made { schedules[cron] = made }
    return made
  }
}
