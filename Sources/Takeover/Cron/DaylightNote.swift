import CalendarTime
import TaskModel

/// What a change of the clocks does differently to a line under the host.
struct DaylightNote {
  /// Moments at which the clocks of a zone change, in seconds since 1970, and by how much.
  private let changes: [(moment: Int, by: Int)]
  private let zone: TimeZoneRules
  private static let hour = 3600
  private static let hours = 2 * 366 * 24

  init(_ zone: TimeZoneRules, after now: Int) {
    self.zone = zone
    var (changes, before): ([(Int, Int)], Int) = ([], zone.offset(at: now))
    for index in 1...Self.hours {
      let moment = now + index * Self.hour
      let after = zone.offset(at: moment)
      if after != before {
        var (low, high) = (moment - Self.hour, moment)
        while high - low > 1 {
          let middle = (low + high) / 2
          if zone.offset(at: middle) == before { low = middle } else { high = middle }
        }
        changes.append((high, after - before))
      }
      before = after
    }
    self.changes = changes
  }

  /// The sentences; none if the clocks never matter to the line.
  func notes(_ expression: CronExpression, isAtFixedTimes: Bool) -> [String] {
    /// Whether the next time after a change depends on the policy.
    func differs(_ first: DaylightPolicy, _ second: DaylightPolicy, at moment: Int) -> Bool {
      let left = CronSchedule(expression, in: zone, daylight: first).next(after: moment - 1)
      return left != CronSchedule(expression, in: zone, daylight: second).next(after: moment - 1)
    }
    let own = DaylightPolicy()
    let skipped = changes.first { $0.by > 0 && differs(own, DaylightPolicy(gap: .skip), at: $0.moment) }
    let repeated = changes.first { $0.by < 0 && differs(own, DaylightPolicy(repeated: .both), at: $0.moment) }
    var notes: [String] = []
    if let skipped {
      let length = Self.words(skipped.by)
      notes.append(
        isAtFixedTimes
          ? "when clocks are set forward, cron runs a skipped time at once after the change, the host one \(length) after the time"
          : "when clocks are set forward, cron leaves out a skipped time, the host runs it one \(length) later")
    }
    if let repeated, !isAtFixedTimes {
      notes.append(
        "when clocks are set back, cron goes on through the \(Self.words(-repeated.by)) that comes twice, the host runs it only the first time"
      )
    }
    return notes
  }

  private static func words(_ seconds: Int) -> String { seconds == 3600 ? "hour" : "span of \(seconds / 60) min" }
}
