import TestSupport
import CalendarTime
import Foundation
import Testing

@Suite("Cron against croniter with zoneinfo")
struct CroniterTests {
  static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu",
    "Africa/Casablanca",
    "Europe/Dublin", "America/Sao_Paulo",
  ]

  static let expressions = [
    "*/15 * * * *", "7 */5 * * *", "0 8 * * *", "30 2 * * 1-5", "0 0 1 * *", "15,45 9-17/2 * * mon,WED,fri", "5 4 13 * 5", "59 23 31 dec *",
    "0 12 29 2 *", "10-20/5 6 1-7 */3 0", "0 0 * * 7", "3/20 22/1 10,20 1,6,7-9 *",
  ]

  @Test("the times of a year are the same in ten zones, but where clocks are set", arguments: zones)
  func year(_ zone: String) throws {
    let rules = try ZoneDirectory().rules(of: zone)
    let answers = try Self.croniter(Self.expressions.map { "\(zone)\t\($0)" })
    try #require(answers.count == Self.expressions.count)
    let begin = CivilDate(year: 2026, month: 1, day: 1).daysSince1970 * 86_400
    let end = CivilDate(year: 2027, month: 1, day: 1).daysSince1970 * 86_400
    for (text, expected) in zip(Self.expressions, answers) {
      let schedule = CronSchedule(try CronExpression(text), in: rules)
      var found: [Int] = []
      var moment = begin - 2 * 86_400
      while let next = schedule.next(after: moment), next < end + 2 * 86_400 {
        moment = next
        let local = next + rules.offset(at: next)
        guard local >= begin, local < end else { continue }
        // As the script: nothing near a change.
        if rules.offset(at: next - 36 * 3600) == rules.offset(at: next + 36 * 3600) { found.append(next) }
      }
      // The script looks 36 hours of local time around, this 36 hours: both leave out a little at the edges.
      let margin = Self.nearChanges(rules, begin, end)
      #expect(found.filter { !margin($0) } == expected.filter { !margin($0) }, "\(zone) \(text)")
      #expect(expected.count > 0 || text == "0 12 29 2 *", "\(zone) \(text)")
    }
  }

  /// Whether a moment is within two days of a change of the clocks.
  private static func nearChanges(_ rules: TimeZoneRules, _ begin: Int, _ end: Int) -> (Int) -> Bool {
    var changes: [Int] = []
    for hour in stride(from: begin - 4 * 86_400, to: end + 4 * 86_400, by: 3600)
    where rules.offset(at: hour) != rules.offset(at: hour + 3600) {
      changes.append(hour)
    }
    return { moment in changes.contains { abs($0 - moment) < 2 * 86_400 } }
  }

  /// What croniter says to each line.
  private static func croniter(_ lines: [String]) throws -> [[Int]] {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "croniter_year.py")
    let answer = try Program.finish(
      ["/usr/bin/python3", script.path], input: Data((lines.joined(separator: "\n") + "\n").utf8), within: .seconds(300))
    try #require(answer.status == 0, "make deps installs python3-croniter")
    return answer.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      $0.split(separator: " ").compactMap { Int($0) }
    }
  }
}
