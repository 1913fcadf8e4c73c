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

  @Test("knows a command as cron prints it: without its input, its escapes and other bytes than ASCII")
  func printed() {
    let log = "Nov 27 08:00:01 h CRON[1]: (root) CMD (echo 100% Zo\\303\\253)\nNov 27 09:30:00 h x[1]: y\nNov 27 07:30:00 h x[1]: y\n"
    #expect(Self.observe("0 8 * * * echo 100\\% Zoë%input\n", log).rows[0].matched == 1)
  }

  @Test("reads a log of the last year, and lines that are no log")
  func years() {
    let log = CronLog(
      Array("Dec 31 23:59:01 h CRON[1]: (root) CMD (x)\n\u{0}\nFeb 30 00:00:00 x\nJan\n99999-01-01T00 x\n".utf8), now: Self.now, zone: .utc)
    #expect(log.starts.map(\.moment) == [1_767_225_541])
    #expect(CronLog([], now: Self.now, zone: .utc).begin == nil)
  }
}
