import CalendarTime
import Glibc
import Testing

@Suite("Cron expressions")
struct CronExpressionTests {
  @Test(
    "what is wrong with an expression is said with its field",
    arguments: [
      ("", "0 fields"), ("* * * *", "4 fields"), ("* * * * * *", "6 fields"), ("60 * * * *", "minute \"60\""),
      ("* 24 * * *", "hour \"24\""),
      ("* * 0 * *", "day of the month \"0\""), ("* * 32 * *", "day of the month \"32\""), ("* * * 13 *", "month \"13\""),
      ("* * * * 8", "weekday \"8\""), ("* * * foo *", "JAN-DEC"), ("5-1 * * * *", "ends before it begins"), ("*/0 * * * *", "step"),
      ("*/x * * * *", "step"), ("1/2/3 * * * *", "two steps"), ("1,,2 * * * *", "minute \"\""), ("-1 * * * *", "minute \"-1\""),
      ("+1 * * * *", "minute \"+1\""), ("* * L * *", "day of the month \"L\""), ("* * * * 5#2", "weekday \"5#2\""), ("@reboot", "@daily"),
      ("0 0 30 2 *", "never run"), ("0 0 31 4,6,9,11 *", "never run"), ("٣ * * * *", "minute"), ("1-2-3 * * * *", "minute \"1-2-3\""),
    ])
  func wrong(_ text: String, _ words: String) throws {
    let error = try #require(throws: CronSyntaxError.self) { try CronExpression(text) }
    #expect(error.description.contains(words), "\(error)")
  }

  @Test(
    "an abbreviation means its five fields",
    arguments: [
      ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"), ("@monthly", "0 0 1 * *"), ("@weekly", "0 0 * * 0"), ("@daily", "0 0 * * *"),
      ("@midnight", "0 0 * * *"), ("@hourly", "0 * * * *"), ("@DAILY", "0 0 * * *"),
    ])
  func abbreviation(_ name: String, _ fields: String) throws {
    let (short, long) = (CronSchedule(try CronExpression(name), in: .utc), CronSchedule(try CronExpression(fields), in: .utc))
    var moment = 1_780_000_000
    for _ in 0..<20 {
      let next = try #require(short.next(after: moment))
      #expect(next == long.next(after: moment))
      moment = next
    }
  }

  @Test("days of the month and weekdays, both restricted, are joined by or; with a star in front, by and")
  func dayOr() throws {
    func days(_ text: String) throws -> [String] {
      let schedule = CronSchedule(try CronExpression(text), in: .utc)
      var moment = try Moment.parse("2026-11-01 12:00")
      return try (0..<3).map { _ in
        moment = try #require(schedule.next(after: moment))
        return String(Moment.text(moment).prefix(10))
      }
    }
    #expect(try days("0 0 13 * fri") == ["2026-11-06", "2026-11-13", "2026-11-20"])
    #expect(try days("0 0 */2 * fri") == ["2026-11-13", "2026-11-27", "2026-12-11"])
    #expect(try days("0 0 13 * *") == ["2026-11-13", "2026-12-13", "2027-01-13"])
  }

  @Test("February 29 comes every four years, and not in 2100")
  func leapDay() throws {
    let schedule = CronSchedule(try CronExpression("0 0 29 2 *"), in: .utc)
    var moment = try Moment.parse("2090-01-01 00:00")
    let dates = try (0..<3).map { _ in
      moment = try #require(schedule.next(after: moment))
      return String(Moment.text(moment).prefix(4))
    }
    #expect(dates == ["2092", "2096", "2104"])
  }

  @Test("the next time is after the moment, never at it")
  func strictlyAfter() throws {
    let schedule = CronSchedule(try CronExpression("* * * * *"), in: .utc)
    #expect(schedule.next(after: 60) == 120)
    #expect(schedule.next(after: 59) == 60)
    #expect(schedule.next(after: -61) == -60)
  }
}

@Suite("Time zones")
struct ZoneDirectoryTests {
  @Test(
    "a name that is none leads nowhere",
    arguments: [
      "", "../../etc/passwd", "/etc/localtime", "Europe//Berlin", "Europe/", "Europe/../UTC", "Middle/Earth", "Europe", "tzdata.zi", "a\0b",
    ])
  func badName(_ name: String) {
    #expect(throws: ZoneDirectory.Failure.self) { try ZoneDirectory().rules(of: name) }
  }

  @Test("a damaged file is refused, wherever it is cut")
  func damaged() throws {
    let whole = try bytes(of: "/usr/share/zoneinfo/Europe/Berlin")
    _ = try TimeZoneRules(file: whole)
    for length in 0..<whole.count - 1 { #expect(throws: TimeZoneRules.Malformed.self) { try TimeZoneRules(file: Array(whole[..<length])) } }
  }

  @Test("no byte that is changed crashes the reader")
  func mutated() throws {
    let whole = try bytes(of: "/usr/share/zoneinfo/Europe/Dublin")
    let expression = try CronExpression("30 2 * * *")
    for position in stride(from: 0, to: whole.count, by: 5) {
      for value in [whole[position] ^ 1, whole[position] ^ 0x80] {
        var changed = whole
        changed[position] = value
        if let rules = try? TimeZoneRules(file: changed) { _ = CronSchedule(expression, in: rules).next(after: 1_790_000_000) }
      }
    }
  }

  private func bytes(of path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }
}
