import CalendarTime
import Foundation
import TaskModel
import TestSupport
import Testing

@testable import Takeover

@Suite("OnCalendar as cron") struct CalendarEventTests {
  private static let texts: [(String, String)] = [
    ("daily", "0 0 * * *"), ("hourly", "0 * * * *"), ("minutely", "* * * * *"), ("weekly", "0 0 * * 1"), ("monthly", "0 0 1 * *"),
    ("yearly", "0 0 1 1 *"), ("quarterly", "0 0 1 1,4,7,10 *"), ("semiannually", "0 0 1 1,7 *"), ("*-*-* 02:00:00", "0 2 * * *"),
    ("02:30", "30 2 * * *"), ("*:0/15", "*/15 * * * *"), ("*:00/10:00", "*/10 * * * *"), ("*-*-* 6,18:00", "0 6,18 * * *"),
    ("Mon..Fri 08:00", "0 8 * * 1-5"), ("Mon,Wed 08:00:00", "0 8 * * 1,3"), ("Sat,Sun *-*-* 10:00", "0 10 * * 0,6"),
    ("Mon *-*-1..7 02:00", "0 2 */31,2-7 * 1"), ("Sun *-*-08..14 02:00", "0 2 8-14 * */7"), ("*-*-1,15 03:00", "0 3 1,15 * *"),
    ("*-1..6-1 00:00", "0 0 1 1-6 *"), ("10-01", "0 0 1 10 *"), ("*-*-* 07..23:30", "30 7-23 * * *"), ("*-*-* *:5,35:00", "5,35 * * * *"),
    ("*-*-* 0/6:00:00", "0 */6 * * *"), ("*-*-* 3/6:20", "20 3,9,15,21 * * *"), ("Monday 05:00", "0 5 * * 1"),
    ("Tue *-*-* 05:00:00", "0 5 * * 2"), ("*:30", "30 * * * *"), ("*-*-01/10 00:00", "0 0 1,11,21,31 * *"),
  ]

  @Test("becomes five fields", arguments: texts)
  func fields(_ text: String, _ expression: String) throws {
    let event = try CalendarEvent(text) { _ in true }
    #expect(event.expression == expression)
    _ = try CronExpression(event.expression)
  }

  @Test("has the times that systemd-analyze finds", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
  func peer() throws {
    let texts = Self.texts.map(\.0)
    let begin = 1_795_780_800
    let answer = try Program.finish(
      ["/usr/bin/systemd-analyze", "calendar", "--base-time=2026-11-27 12:00:00", "--iterations=8"] + texts,
      environment: ["TZ": "UTC", "LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""])
    try #require(answer.status == 0, "\(answer.errors)")
    let blocks = answer.output.components(separatedBy: "\n\n")
    try #require(blocks.count == texts.count)
    for (text, block) in zip(texts, blocks) {
      let times = block.split(separator: "\n").filter { $0.contains("elapse: ") || $0.contains("Iter. #") }
        .compactMap { RFC3339.parse($0.split(separator: " ").suffix(3).prefix(2).joined(separator: "T") + "Z")?.unixMilliseconds }
      let schedule = CronSchedule(try CronExpression(try CalendarEvent(text) { _ in true }.expression), in: .utc)
      var (own, moment): ([Int64], Int) = ([], begin)
      for _ in times {
        guard let next = schedule.next(after: moment) else { break }
        own.append(Int64(next) * 1000)
        moment = next
      }
      #expect(own == times && times.count == 8, "\(text)")
    }
  }

  private static let refused = [
    "*-*-* 02:00:30", "2026-12-24 18:00", "*-*~1 00:00", "*-*-* 02:00:0/10", "Mon *-*-08..14 02:00", "", "nonsense", "25:00", "*-13-01",
    "*-*-* 02:00 Europe/Nowhere", "@1700000000", "Mon..", "*-*-* 1..:00",
  ]

  @Test("that five fields cannot say is refused", arguments: refused)
  func problem(_ text: String) {
    #expect(throws: CalendarEvent.Problem.self) { _ = try CalendarEvent(text) { $0 != "Europe/Nowhere" } }
  }

  @Test("may name a time zone")
  func zone() throws {
    #expect(try CalendarEvent("*-*-* 02:00 Europe/Berlin") { _ in true }.zone == "Europe/Berlin")
    #expect(try CalendarEvent("daily UTC") { _ in true }.zone == "UTC")
  }

  private static let spans: [(String, Int)] = [
    ("15min", 900_000), ("1d", 86_400_000), ("1h 30min", 5_400_000), ("90", 90_000), ("2w", 1_209_600_000), ("500ms", 500),
    ("1.5h", 5_400_000),
    ("1month", 2_629_800_000), ("1M", 2_629_800_000), ("1m", 60_000), ("0", 0),
  ]

  @Test("lengths of time have systemd's units", arguments: spans)
  func span(_ text: String, _ milliseconds: Int) { #expect(TimeSpan.milliseconds(text) == milliseconds) }

  @Test("what is not a length of time is none", arguments: ["", "x", "1x", "-5", "1e400y", "infinity", "9999999999999999y"])
  func noSpan(_ text: String) { #expect(TimeSpan.milliseconds(text) == nil) }
}
