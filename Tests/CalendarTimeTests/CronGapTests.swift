import TaskModel
import Testing

@testable import CalendarTime

@Suite("The longest pause of a cron schedule") struct CronGapTests {
  @Test(
    "counts nights, weekends, months, leap days and clock changes",
    arguments: [
      ("*/15 * * * *", "UTC", 900), ("30 2 * * *", "UTC", 86_400), ("0 8 * * 1-5", "UTC", 3 * 86_400), ("0 9-17 * * *", "UTC", 16 * 3600),
      ("0 12 1 * *", "UTC", 31 * 86_400), ("0 0 29 2 *", "UTC", 1461 * 86_400), ("0 12 * * *", "Europe/Berlin", 25 * 3600),
      ("* * * * *", "UTC", 60), ("*/5 9-16 * * 1-5", "UTC", 3 * 86_400 - 8 * 3600 + 300),
    ])
  func gaps(_ text: String, _ zone: String, _ seconds: Int) throws {
    let schedule = CronSchedule(try CronExpression(text), in: try ZoneDirectory().rules(of: zone))
    let gap = try #require(schedule.longestGap(after: 1_800_000_000))
    #expect(gap.to - gap.from == seconds)
  }
}
