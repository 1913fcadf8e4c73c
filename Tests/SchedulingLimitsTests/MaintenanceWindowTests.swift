import CalendarTime
import SchedulingLimits
import TaskModel
import Testing

@Suite("Maintenance windows")
struct MaintenanceWindowTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let zone: String
    let from: String
    let to: String
    let days: [String]
    /// Where it begins, and when the window opens and closes from then on, in UTC.
    let after: String
    let changes: [String]

    init(_ zone: String, _ from: String, _ to: String, _ days: [String] = [], after: String, _ changes: String...) {
      (self.zone, self.from, self.to, self.days, self.after, self.changes) = (zone, from, to, days, after, changes)
    }

    var testDescription: String { "\(zone) \(from) to \(to) \(days.joined(separator: ",")) after \(after)" }

    var window: MaintenanceWindow {
      get throws { try MaintenanceWindow(from: from, to: to, days: days, zone: ZoneDirectory().rules(of: zone)) }
    }
  }

  static let cases = [
    Case("UTC", "01:00", "05:00", after: "2026-06-01 00:00", "2026-06-01 01:00", "2026-06-01 05:00", "2026-06-02 01:00"),
    Case("UTC", "22:00", "04:00", after: "2026-06-01 12:00", "2026-06-01 22:00", "2026-06-02 04:00", "2026-06-02 22:00"),
    Case("UTC", "20:00", "24:00", after: "2026-06-01 12:00", "2026-06-01 20:00", "2026-06-02 00:00", "2026-06-02 20:00"),
    // A window belongs to the day on which it opens: 2026-06-01 is a Monday.
    Case("UTC", "22:00", "04:00", ["sun"], after: "2026-06-01 12:00", "2026-06-07 22:00", "2026-06-08 04:00", "2026-06-14 22:00"),
    Case(
      "UTC", "00:00", "24:00", ["mon", "tue", "thu"], after: "2026-06-06 12:00",
      "2026-06-08 00:00", "2026-06-10 00:00", "2026-06-11 00:00"),
    Case("UTC", "12:00", "11:00", after: "2026-06-01 11:30", "2026-06-01 12:00", "2026-06-02 11:00", "2026-06-02 12:00"),
    Case("Europe/Berlin", "01:00", "05:00", after: "2026-01-10 12:00", "2026-01-11 00:00", "2026-01-11 04:00"),
    Case("Europe/Berlin", "01:00", "05:00", after: "2026-07-10 12:00", "2026-07-10 23:00", "2026-07-11 03:00"),
    Case("Asia/Kathmandu", "01:00", "05:00", ["fri"], after: "2026-06-01 00:00", "2026-06-04 19:15", "2026-06-04 23:15"),
    // Berlin, 2026-03-29: 02:00 becomes 03:00 at 01:00 UTC.
    Case("Europe/Berlin", "01:00", "05:00", after: "2026-03-28 12:00", "2026-03-29 00:00", "2026-03-29 03:00", "2026-03-29 23:00"),
    Case("Europe/Berlin", "02:00", "03:00", after: "2026-03-28 12:00", "2026-03-29 01:00", "2026-03-29 02:00", "2026-03-30 00:00"),
    Case("Europe/Berlin", "02:15", "02:45", after: "2026-03-28 12:00", "2026-03-29 01:15", "2026-03-29 01:45", "2026-03-30 00:15"),
    Case("Europe/Berlin", "02:30", "04:00", after: "2026-03-28 12:00", "2026-03-29 01:00", "2026-03-29 02:00", "2026-03-30 00:30"),
    Case("Europe/Berlin", "01:30", "02:30", after: "2026-03-28 12:00", "2026-03-29 00:30", "2026-03-29 01:00", "2026-03-29 23:30"),
    Case("Europe/Berlin", "22:00", "02:30", after: "2026-03-28 12:00", "2026-03-28 21:00", "2026-03-29 01:00", "2026-03-29 20:00"),
    Case("Europe/Berlin", "03:00", "03:30", after: "2026-03-28 12:00", "2026-03-29 01:00", "2026-03-29 01:30", "2026-03-30 01:00"),
    // Berlin, 2026-10-25: 03:00 becomes 02:00 at 01:00 UTC.
    Case("Europe/Berlin", "01:00", "05:00", after: "2026-10-24 12:00", "2026-10-24 23:00", "2026-10-25 04:00", "2026-10-26 00:00"),
    Case("Europe/Berlin", "02:00", "03:00", after: "2026-10-24 12:00", "2026-10-25 00:00", "2026-10-25 02:00", "2026-10-26 01:00"),
    Case(
      "Europe/Berlin", "02:15", "02:45", after: "2026-10-24 12:00", "2026-10-25 00:15", "2026-10-25 00:45", "2026-10-25 01:15",
      "2026-10-25 01:45", "2026-10-26 01:15"),
    Case(
      "Europe/Berlin", "02:30", "05:00", after: "2026-10-24 12:00", "2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30",
      "2026-10-25 04:00"),
    Case("Europe/Berlin", "00:00", "24:00", ["sun"], after: "2026-10-24 12:00", "2026-10-24 22:00", "2026-10-25 23:00", "2026-10-31 23:00"),
    // Lord Howe, 2026-10-04: 02:00 becomes 02:30 at 15:30 UTC of the 3rd; half an hour.
    Case("Australia/Lord_Howe", "01:00", "05:00", after: "2026-10-03 12:00", "2026-10-03 14:30", "2026-10-03 18:00", "2026-10-04 14:00"),
    Case("Australia/Lord_Howe", "02:00", "02:30", after: "2026-10-03 12:00", "2026-10-03 15:30", "2026-10-03 16:00", "2026-10-04 15:00"),
    Case("Australia/Lord_Howe", "02:10", "02:20", after: "2026-10-03 12:00", "2026-10-03 15:40", "2026-10-03 15:50", "2026-10-04 15:10"),
    // Lord Howe, 2026-04-05: 02:00 becomes 01:30 at 15:00 UTC of the 4th.
    Case("Australia/Lord_Howe", "01:30", "02:00", after: "2026-04-04 12:00", "2026-04-04 14:30", "2026-04-04 15:30", "2026-04-05 15:00"),
    Case(
      "Australia/Lord_Howe", "01:40", "01:50", after: "2026-04-04 12:00", "2026-04-04 14:40", "2026-04-04 14:50", "2026-04-04 15:10",
      "2026-04-04 15:20", "2026-04-05 15:10"),
    // Apia left out the whole of Friday, 2011-12-30, at 10:00 UTC: from 10 hours behind UTC to 14 ahead.
    Case(
      "Pacific/Apia", "01:00", "05:00", after: "2011-12-29 00:00", "2011-12-29 11:00", "2011-12-29 15:00", "2011-12-30 11:00",
      "2011-12-30 15:00", "2011-12-31 11:00"),
    Case("Pacific/Apia", "01:00", "05:00", ["fri"], after: "2011-12-29 00:00", "2011-12-30 11:00", "2011-12-30 15:00", "2012-01-05 11:00"),
    Case("Pacific/Apia", "23:00", "01:00", ["thu"], after: "2011-12-29 00:00", "2011-12-30 09:00", "2011-12-30 10:00", "2012-01-05 09:00"),
    Case("Pacific/Apia", "23:00", "01:00", ["fri"], after: "2011-12-29 00:00", "2011-12-30 10:00", "2011-12-30 11:00", "2012-01-06 09:00"),
  ]

  @Test("it opens and closes by the clocks of its place, also where they are set", arguments: cases)
  func table(_ tested: Case) throws {
    let window = try tested.window
    var now = try Moment.parse(tested.after)
    for (index, expected) in tested.changes.enumerated() {
      let opens = index % 2 == 0
      #expect(window.isOpen(at: now) != opens, "at \(Moment.text(now))")
      let next = opens ? window.nextOpening(after: now) : window.closes(after: now)
      try #require(Moment.text(next) == expected)
      // It stays as it is until then.
      #expect(window.isOpen(at: try #require(next) + .milliseconds(-1)) != opens)
      now = try #require(next)
      #expect(window.isOpen(at: now) == opens)
    }
  }

  @Test("every five minutes, it is open between an opening and a closing and at no other time", arguments: cases)
  func consistent(_ tested: Case) throws {
    let window = try tested.window
    let begin = try Moment.parse(tested.after) + .seconds(-86_400)
    var isOpen = window.isOpen(at: begin)
    var change = isOpen ? window.closes(after: begin) : window.nextOpening(after: begin)
    for minute in stride(from: 5, through: 60 * 24 * 4, by: 5) {
      let now = begin + .seconds(60 * minute)
      if let next = change, next <= now {
        isOpen.toggle()
        change = isOpen ? window.closes(after: next) : window.nextOpening(after: next)
      }
      try #require(window.isOpen(at: now) == isOpen, "at \(Moment.text(now))")
    }
  }

  @Test("a window of all days and hours is never closed")
  func always() throws {
    for zone in ["UTC", "Europe/Berlin", "Pacific/Apia"] {
      let window = try MaintenanceWindow(from: "00:00", to: "24:00", zone: ZoneDirectory().rules(of: zone))
      for start in ["2011-12-29 00:00", "2026-03-28 12:00", "2026-10-24 12:00"] {
        let now = try Moment.parse(start)
        #expect(window.isOpen(at: now))
        #expect(window.nextOpening(after: now) == nil)
        #expect(window.closes(after: now) == nil)
      }
    }
  }

  @Test("at the ends of the calendar nothing overflows")
  func ends() throws {
    let window = try MaintenanceWindow(from: "01:00", to: "05:00", zone: ZoneDirectory().rules(of: "Europe/Berlin"))
    for time in [WallTime(unixMilliseconds: .min), .distantFuture] {
      _ = window.isOpen(at: time)
      _ = window.nextOpening(after: time)
      _ = window.closes(after: time)
    }
  }

  @Test(
    "what is wrong with a window is said",
    arguments: [
      ("1:00", "05:00", "mon", "window \"1:00\": is not a time of day"), ("24:00", "05:00", "mon", "from 00:00 to 23:59"),
      ("01:60", "05:00", "mon", "is not a time"), ("01:00", "24:01", "mon", "from 00:00 to 24:00"), ("01:00", "", "mon", "is not a time"),
      ("0١:00", "05:00", "mon", "is not a time"), ("+1:00", "05:00", "mon", "is not a time"),
      ("01:00", "01:00", "mon", "from 00:00 to 24:00"),
      ("01:00", "05:00", "mo", "is not a weekday: write sun, mon"), ("01:00", "05:00", "", "is not a weekday"),
      ("01:00", "05:00", "mondays", "is not a weekday"), ("01:00", "05:00", "monkey", "is not a weekday"),
      ("01:00", "05:00", "1", "is not a weekday"),
    ])
  func wrong(_ from: String, _ to: String, _ day: String, _ words: String) throws {
    let error = try #require(throws: LimitSyntaxError.self) { try MaintenanceWindow(from: from, to: to, days: [day], zone: .utc) }
    #expect(error.description.contains(words), "\(error)")
  }

  @Test("it is written with its times and days")
  func written() throws {
    #expect(try MaintenanceWindow(from: "01:00", to: "05:00", zone: .utc).description == "01:00–05:00 daily")
    #expect(
      try MaintenanceWindow(from: "22:30", to: "04:00", days: ["Tuesday", "SUN", "thur"], zone: .utc).description
        == "22:30–04:00 sun, tue, thu")
    #expect(try MaintenanceWindow(from: "00:00", to: "24:00", days: ["sat"], zone: .utc).description == "00:00–24:00 sat")
  }
}
