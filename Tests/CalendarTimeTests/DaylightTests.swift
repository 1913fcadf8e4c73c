import CalendarTime
import TaskModel
import Testing

/// The days on which clocks are set, by hand.
@Suite("Cron where clocks are set")
struct DaylightTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let zone: String
    let expression: String
    let gap: DaylightPolicy.Gap
    let repeated: DaylightPolicy.Repeated
    /// Where it begins, and the times that follow, in UTC: `yyyy-mm-dd hh:mm`.
    let after: String
    let times: [String]

    init(
      _ zone: String, _ expression: String, _ gap: DaylightPolicy.Gap = .shift, _ repeated: DaylightPolicy.Repeated = .first, after: String,
      _ times: String...
    ) {
      (self.zone, self.expression, self.gap, self.repeated, self.after, self.times) = (zone, expression, gap, repeated, after, times)
    }

    var testDescription: String { "\(zone) \(expression) \(gap) \(repeated)" }
  }

  static let cases = [
    // Berlin, 2026-03-29: 02:00 becomes 03:00 at 01:00 UTC.
    Case("Europe/Berlin", "30 2 * * *", after: "2026-03-28 00:00", "2026-03-28 01:30", "2026-03-29 01:30", "2026-03-30 00:30"),
    Case("Europe/Berlin", "30 2 * * *", .skip, after: "2026-03-28 00:00", "2026-03-28 01:30", "2026-03-30 00:30"),
    Case(
      "Europe/Berlin", "0,30 2,3 * * *", after: "2026-03-29 00:00", "2026-03-29 01:00", "2026-03-29 01:30", "2026-03-30 00:00"),
    Case("Europe/Berlin", "0 3 * * *", .skip, after: "2026-03-28 12:00", "2026-03-29 01:00"),
    Case("Europe/Berlin", "59 1 * * *", after: "2026-03-28 12:00", "2026-03-29 00:59", "2026-03-29 23:59"),
    // Berlin, 2026-10-25: 03:00 becomes 02:00 at 01:00 UTC.
    Case("Europe/Berlin", "30 2 * * *", after: "2026-10-24 12:00", "2026-10-25 00:30", "2026-10-26 01:30"),
    Case("Europe/Berlin", "30 2 * * *", .shift, .last, after: "2026-10-24 12:00", "2026-10-25 01:30", "2026-10-26 01:30"),
    Case(
      "Europe/Berlin", "30 2 * * *", .shift, .both, after: "2026-10-24 12:00", "2026-10-25 00:30", "2026-10-25 01:30", "2026-10-26 01:30"),
    Case("Europe/Berlin", "30 2 * * *", .shift, .last, after: "2026-10-25 00:30", "2026-10-25 01:30"),
    Case("Europe/Berlin", "0 3 * * *", .shift, .both, after: "2026-10-24 12:00", "2026-10-25 02:00"),
    Case(
      "Europe/Berlin", "*/30 2 * * *", .shift, .both, after: "2026-10-24 12:00", "2026-10-25 00:00", "2026-10-25 00:30", "2026-10-25 01:00",
      "2026-10-25 01:30", "2026-10-26 01:00"),
    // Lord Howe, 2026-10-04: 02:00 becomes 02:30 at 15:30 UTC of the 3rd; half an hour.
    Case("Australia/Lord_Howe", "15 2 * * *", after: "2026-10-02 20:00", "2026-10-03 15:45", "2026-10-04 15:15"),
    Case("Australia/Lord_Howe", "15 2 * * *", .skip, after: "2026-10-02 20:00", "2026-10-04 15:15"),
    Case("Australia/Lord_Howe", "30 2 * * *", .skip, after: "2026-10-02 20:00", "2026-10-03 15:30"),
    // Lord Howe, 2026-04-05: 02:00 becomes 01:30 at 15:00 UTC of the 4th.
    Case("Australia/Lord_Howe", "45 1 * * *", after: "2026-04-04 00:00", "2026-04-04 14:45", "2026-04-05 15:15"),
    Case("Australia/Lord_Howe", "45 1 * * *", .shift, .last, after: "2026-04-04 00:00", "2026-04-04 15:15", "2026-04-05 15:15"),
    Case("Australia/Lord_Howe", "45 1 * * *", .shift, .both, after: "2026-04-04 00:00", "2026-04-04 14:45", "2026-04-04 15:15"),
    Case("Australia/Lord_Howe", "15 1 * * *", .shift, .both, after: "2026-04-04 00:00", "2026-04-04 14:15", "2026-04-05 14:45"),
    // Apia left out the whole of 2011-12-30, at 10:00 UTC: from 10 hours behind UTC to 14 ahead.
    Case("Pacific/Apia", "0 12 * * *", after: "2011-12-29 00:00", "2011-12-29 22:00", "2011-12-30 22:00", "2011-12-31 22:00"),
    Case("Pacific/Apia", "0 12 30 12 *", after: "2011-12-29 00:00", "2011-12-30 22:00", "2012-12-29 22:00"),
    Case("Pacific/Apia", "0 12 30 12 *", .skip, after: "2011-12-29 00:00", "2012-12-29 22:00"),
    Case("Pacific/Apia", "0 12 * * *", .skip, after: "2011-12-29 00:00", "2011-12-29 22:00", "2011-12-30 22:00"),
    // Apia, 2012-04-01: 04:00 becomes 03:00 at 14:00 UTC of the day before; 2012-09-30: 03:00 becomes 04:00 at 14:00 UTC of the 29th.
    Case("Pacific/Apia", "30 3 * * *", after: "2012-03-31 00:00", "2012-03-31 13:30", "2012-04-01 14:30"),
    Case(
      "Pacific/Apia", "30 3 * * *", .shift, .both, after: "2012-03-31 00:00", "2012-03-31 13:30", "2012-03-31 14:30", "2012-04-01 14:30"),
    Case("Pacific/Apia", "30 3 * * *", after: "2012-09-28 20:00", "2012-09-29 14:30", "2012-09-30 13:30"),
    Case("Pacific/Apia", "30 3 * * *", .skip, after: "2012-09-28 20:00", "2012-09-30 13:30"),
  ]

  @Test("a time that clocks skip or show twice comes as its policy says", arguments: cases)
  func policy(_ tested: Case) throws {
    let schedule = CronSchedule(
      try CronExpression(tested.expression), in: try ZoneDirectory().rules(of: tested.zone),
      daylight: DaylightPolicy(gap: tested.gap, repeated: tested.repeated))
    var moment = try Moment.parse(tested.after)
    for expected in tested.times {
      moment = try #require(schedule.next(after: moment))
      #expect(Moment.text(moment) == expected)
    }
  }

  @Test("a time that is shifted onto another comes once")
  func together() throws {
    let schedule = CronSchedule(try CronExpression("30 2,3 * * *"), in: try ZoneDirectory().rules(of: "Europe/Berlin"))
    let first = try #require(schedule.next(after: Moment.parse("2026-03-29 00:00")))
    #expect(Moment.text(first) == "2026-03-29 01:30")
    #expect(Moment.text(try #require(schedule.next(after: first))) == "2026-03-30 00:30")
  }

  @Test("beyond the table of a file its rule goes on", arguments: ["Europe/Berlin", "Australia/Lord_Howe", "Europe/Dublin"])
  func farAhead(_ zone: String) throws {
    let rules = try ZoneDirectory().rules(of: zone)
    let summer = CivilDate(year: 2090, month: 7, day: 1).daysSince1970 * 86_400
    let winter = CivilDate(year: 2090, month: 1, day: 1).daysSince1970 * 86_400
    let now = CivilDate(year: 2026, month: 7, day: 1).daysSince1970 * 86_400
    #expect(rules.offset(at: summer) == rules.offset(at: now))
    #expect(rules.offset(at: summer) != rules.offset(at: winter))
  }
}

/// Moments as text, in UTC.
enum Moment {
  static func parse(_ text: String) throws -> Int {
    let numbers = text.split { "- :".contains($0) }.compactMap { Int($0) }
    try #require(numbers.count == 5)
    return CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]).daysSince1970 * 86_400 + numbers[3] * 3600 + numbers[4] * 60
  }

  static func text(_ moment: Int) -> String {
    let days = moment >= 0 ? moment / 86_400 : (moment - 86_399) / 86_400
    let date = CivilDate(daysSince1970: days)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = moment - days * 86_400
    return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(time / 3600)):\(two(time / 60 % 60))"
  }
}
