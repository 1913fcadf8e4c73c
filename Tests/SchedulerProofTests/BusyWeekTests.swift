import Foundation
import TaskModel
import Testing

@Suite("A simulated week of a busy host") struct BusyWeekTests {
  /// Unoptimized code takes minutes for it: it does the first hours alone, but for TASKHOST_WHOLE_WEEK=1.
  private static let isWhole = ProcessInfo.processInfo.environment["TASKHOST_WHOLE_WEEK"] == "1"

  @Test(
    "200 identifiers, ten time zones, a night of changed clocks, failures, lost networks and a reboot: nothing drifts, nothing is left out")
  func week() throws {
    let clock = ContinuousClock()
    #if DEBUG
      let length = Duration.seconds(Self.isWhole ? 7 * 86_400 : 6 * 3600)
    #else
      let length = Duration.seconds(7 * 86_400)
    #endif
    let week = try BusyWeek(length)
    let time = try clock.measure { try week.run() }
    print("\(length) of \(week.begun) runs in \(week.turns) turns was simulated in \(time): \(week.outcomes)")
    if ProcessInfo.processInfo.environment["TASKHOST_MEASURE"] == "1" { #expect(time < .seconds(10)) }
    #expect(week.begun > Int(length.components.seconds / 20))

    // Each occurrence by the calendar ran once and in order; the last one may go on.
    for cron in week.crons.values {
      #expect(
        cron.ran == cron.expected || cron.ran == cron.expected.dropLast(), "\(cron.rule): \(cron.ran.count) of \(cron.expected.count)")
      #expect(cron.latest < .seconds(60), "\(cron.rule): one began \(cron.latest) after its time")
    }
    // What comes at an interval stays on its grid, and every occurrence of a time in which the host was up ran.
    for every in week.everies.values {
      let step = every.interval.wholeMilliseconds
      #expect(every.ran.allSatisfy { ($0 - every.anchor).wholeMilliseconds % step == 0 }, "an interval of \(every.interval) drifts")
      let up = length - (week.downUntil - week.downFrom)
      let occurrences = Set(every.ran).count
      #expect(occurrences <= Int((week.end - every.anchor).wholeMilliseconds / step) + 1)
      // Some are superseded while a network is lost, a retry waits or a plugin is held back.
      #expect(occurrences >= Int(up.wholeMilliseconds / step) * 6 / 10, "\(occurrences) occurrences of an interval of \(every.interval)")
    }
    try week.finish()
    #expect(week.liveRuns == 0)
    #expect(week.outcomes.values.reduce(0, +) == week.begun)
    // Every request that came once has ended, well or as a dead letter.
    let (succeeded, failed) = (try week.count(.succeeded), try week.count(.failed))
    #expect(succeeded + failed == week.oneShots.count)
    #expect(failed < week.oneShots.count / 10)
    #expect(try week.count(.cancelled) == week.crons.count + week.everies.count)
    #expect(try week.count(.pending) + week.count(.running) + week.count(.blocked) == 0)
  }
}
