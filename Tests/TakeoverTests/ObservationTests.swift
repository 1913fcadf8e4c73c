import CalendarTime
import Testing

@testable import Takeover

@Suite("Comparison with cron's log") struct ObservationTests {
  /// 2026-11-27 12:00:00 UTC.
  private static let now = 1_795_780_800

  private static func commands(_ crontab: String, user: String = "root") -> [CarriedCommand] {
    var machine = CronMachine(files: [CronFile(path: "/crontab", kind: .user(user), bytes: Array(crontab.utf8))])
    machine.now = now
    return CronTakeover.findings(of: machine).compactMap(\.command)
  }

  private static func observe(_ crontab: String, _ log: String, hours: Int = 24, zone: TimeZoneRules = .utc) -> Observation {
    Observation(
      commands(crontab), with: CronLog(Array(log.utf8), now: now, zone: zone), from: now - hours * 3600, to: now, zone: zone)
  }

  private static let forms = [
    "Nov 27 11:17:01 web1 CRON[4242]: (root) CMD (run-hourly)", "2026-11-27T11:17:01.123456+00:00 web1 CRON[4242]: (root) CMD (run-hourly)",
    "2026-11-27T12:17:01+0100 web1 CROND[4242]: (root) CMD (run-hourly)",
    "Nov 27 11:17:01 web1 /USR/SBIN/CRON[4242]: (root) CMD (run-hourly)",
    "Nov 27 11:17:01 web1 CRON[4242]: (root) CMD ([4243] run-hourly)", "2026-11-27T11:17:01Z web1 CRON[4242]: (root) CMD (   run-hourly)",
  ]

  @Test("reads each form of the log", arguments: forms)
  func form(_ line: String) {
    let log = CronLog(Array(line.utf8), now: Self.now, zone: .utc)
    #expect(log.starts == [.init(moment: 1_795_778_221, command: LoggedCommand(user: "root", text: "run-hourly"))])
  }

  @Test("finds what matches, what is missing, what is too much, and how late it was")
  func compared() {
    let log = """
      Nov 27 07:59:30 web1 systemd[1]: something
      Nov 27 08:17:01 web1 CRON[1]: (root) CMD (hourly)
      Nov 27 09:17:31 web1 CRON[2]: (root) CMD (hourly)
      Nov 27 10:03:00 web1 CRON[3]: (root) CMD (hourly)
      Nov 27 10:20:00 web1 CRON[4]: (alice) CMD (stranger)
      Nov 27 11:59:59 web1 CRON[5]: (root) CMD (other)

      """
    let observation = Self.observe("17 * * * * hourly\n@reboot start\n", log)
    let row = observation.rows[0]
    #expect(observation.rows.count == 1)
    #expect(row.expected == 4 && row.matched == 2 && row.latest == 31)
    #expect(row.missing == [1_795_774_620, 1_795_778_220])
    #expect(row.extra == [1_795_773_780])
    #expect(observation.notCompared == ["cron.root.start"])
    #expect(observation.unknown.map(\.command.text) == ["stranger"])
    #expect(!observation.isEqual)
  }

  @Test("compares only the span that the log has")
  func span() {
    let log = "Nov 27 10:30:10 h CRON[1]: (root) CMD (x)\nNov 27 10:45:00 h CRON[1]: (root) CMD (minutely)\n"
    let observation = Self.observe("0 * * * * hourly\n", log)
    #expect(observation.rows[0].expected == 0 && observation.isEqual)
    #expect(observation.to < Self.now)
  }

  @Test("takes lines with one user and text for one command")
  func shared() {
    let log =
      "Nov 25 23:30:00 h x[1]: y\n" + (0..<24).map { "Nov 26 \($0 < 10 ? "0" : "")\($0):00:01 h CRON[1]: (root) CMD (same)\n" }.joined()
      + "Nov 26 23:59:30 h x[1]: y\n"
    let observation = Self.observe("0 0-11 * * * same\n0 12-23 * * * same\n", log, hours: 48)
    #expect(observation.rows.count == 1 && observation.isEqual && observation.rows[0].matched == 24)
    #expect(observation.rows[0].identifiers == ["cron.root.same", "cron.root.same-2"])
  }

  /// Lines of a crontab, and how Debian's cron (3.0pl1-162) logged them.
  private static let lines = [
    ("0 8 * * * true   \"two  blanks\"   ", "true   \"two  blanks\"   "), ("0 8 * * *\ttrue\ttabs\there", "true^Itabs^Ihere"),
    ("0 8 * * * true 100\\% done%input", "true 100% done"), ("0 8 * * * true back\\\\slash \\d", "true back\\slash \\d"),
    ("0 8 * * * true Zoë 東京", "true Zo\\303\\253 \\346\\235\\261\\344\\272\\254"),
    ("0 8 * * * true (paren) CMD (x)", "true (paren) CMD (x)"),
    ("0 8 * * * true ctrl\u{1}x", "true ctrl^Ax"), ("0 8 * * * true cr\r", "true cr^M"), ("0 8 * * *   lead", "lead"),
  ]

  @Test("knows a command as cron prints it: without its input and its escapes, in ASCII", arguments: lines)
  func printed(_ line: String, _ logged: String) {
    let log = "Nov 27 07:30:00 h x[1]: y\nNov 27 08:00:01 h CRON[1]: (root) CMD (\(logged))\nNov 27 09:30:00 h x[1]: y\n"
    let observation = Self.observe(line + "\n", log)
    #expect(observation.rows.map(\.matched) == [1] && observation.unknown.isEmpty)
  }

  @Test("services that systemd started are compared with the calendars of their timers, within accuracy and random delay")
  func timers() {
    func unit(_ name: String, _ text: String) -> UnitFiles {
      UnitFiles(name: name, texts: [UnitText(Array(text.utf8), file: "/" + name)], path: "/" + name)
    }
    let machine = TimerMachine(
      timers: [
        unit("a.timer", "[Timer]\nOnCalendar=*:00\nOnCalendar=*:30\nRandomizedDelaySec=10min\n"),
        unit("b.timer", "[Timer]\nOnBootSec=1h\n"),
      ],
      services: ["a.service": unit("a.service", "[Service]\nExecStart=/a\n"), "b.service": unit("b.service", "[Service]\nExecStart=/b\n")],
      enabled: ["a.timer", "b.timer"])
    let commands = TimerTakeover.findings(of: machine).compactMap(\.command)
    let log = """
      2026-11-27T09:50:00+0000 h systemd[1]: Starting cron.service...
      2026-11-27T10:09:30+0000 h systemd[1]: Starting a.service - Work...
      2026-11-27T10:30:01+0000 h systemd[1]: Starting a.service - Work...
      2026-11-27T10:30:05+0000 h systemd[1]: Finished a.service - Work.
      2026-11-27T11:20:00+0000 h systemd[1]: Starting a.service...
      2026-11-27T11:33:00+0000 h systemd[7]: Starting a.service - Work...
      2026-11-27T11:35:00+0000 h kernel: x

      """
    let observation = Observation(
      commands, with: CronLog(Array(log.utf8), isOfTimers: true, now: Self.now, zone: .utc), from: Self.now - 86_400, to: Self.now,
      zone: .utc)
    #expect(observation.notCompared == ["timer.b"])
    #expect(observation.rows.count == 1)
    let row = observation.rows[0]
    // 11:00 is missing, 11:20 was too late for it, and the delay of 11:30 is not over.
    #expect(row.expected == 3 && row.matched == 2 && row.latest == 570)
    #expect(row.missing == [1_795_777_200] && row.extra == [1_795_778_400])
  }

  @Test("reads a log of the last year, and lines that are no log")
  func years() {
    let log = CronLog(
      Array("Dec 31 23:59:01 h CRON[1]: (root) CMD (x)\n\u{0}\nFeb 30 00:00:00 x\nJan\n99999-01-01T00 x\n".utf8), now: Self.now, zone: .utc)
    #expect(log.starts.map(\.moment) == [1_767_225_541])
    #expect(CronLog([], now: Self.now, zone: .utc).begin == nil)
  }
}
