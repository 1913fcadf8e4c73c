import TaskModel
import Testing

@testable import TaskHost

@Suite("Values in a configuration") struct ConfigurationTextTests {
  @Test(
    "durations",
    arguments: [
      ("500ms", 500), ("30s", 30_000), ("15m", 900_000), ("6h", 21_600_000), ("7d", 604_800_000), ("1h30m", 5_400_000),
      ("1d2h3m4s5ms", 93_784_005),
      ("0s", 0),
    ])
  func durations(_ text: String, _ milliseconds: Int) throws {
    #expect(try DurationText.parse(text) == .milliseconds(milliseconds))
    #expect(try DurationText.parse(DurationText.format(.milliseconds(milliseconds))) == .milliseconds(milliseconds))
  }

  @Test("no durations", arguments: ["", "5", "s", "1x", "1h 30m", "1m1h", "1s1s", "1.5h", "+1s", "-1s", "1S", "٣s"])
  func noDurations(_ text: String) {
    #expect(throws: TextProblem.self) { try DurationText.parse(text) }
  }

  @Test("sizes", arguments: [("0B", 0), ("256MiB", 268_435_456), ("1GB", 1_000_000_000), ("2KiB", 2048), ("3kB", 3000), ("1TiB", 1 << 40)])
  func sizes(_ text: String, _ bytes: Int) throws {
    #expect(try ByteCountText.parse(text) == bytes)
  }

  @Test("no sizes", arguments: ["", "1", "MiB", "1mib", "1 MiB", "-1B", "1.5GiB", "99999999999999999999B"])
  func noSizes(_ text: String) {
    #expect(throws: TextProblem.self) { try ByteCountText.parse(text) }
  }

  @Test("schedules")
  func schedules() throws {
    func rule(_ expression: String, _ zone: String) -> RepeatRule { RepeatRule(.cron(CronRule(expression, timeZone: zone))) }
    #expect(try RepeatRule(schedule: "every 6h") == RepeatRule(every: .seconds(21_600)))
    #expect(try RepeatRule(schedule: "cron 0 8 * * 1-5 Europe/Berlin") == rule("0 8 * * 1-5", "Europe/Berlin"))
    #expect(try RepeatRule(schedule: "cron @daily UTC") == rule("@daily", "UTC"))
    #expect(try RepeatRule(schedule: "cron */15 0,12 1 JAN *") == rule("*/15 0,12 1 JAN *", HostConfiguration.Window().timeZone))
  }

  @Test("keys are found behind strings, comments, lists and tables that look like keys")
  func positions() {
    let text = #"""
      text = """
      trap = 1
      """ # trap = 2
      other = '[trap]' # "
      list = [ "trap = 3", # ]
        { inner = 1, deep = { x = 2 } }, ['''
      trap''', ]]
      [a."b.c" . d]
      'e' = 2024-01-01 07:00:00
      [[t]]
      k = 1
      [t.sub]
      k = 2
      [[t]]
        é = 1
      """#
    let positions = TOMLPositions(text)
    func at(_ path: ConfigurationPath) -> String { "\(positions.position(of: path).line):\(positions.position(of: path).column)" }
    #expect(at(["text"]) == "1:1")
    #expect(at(["other"]) == "4:1")
    #expect(at(ConfigurationPath([.key("list"), .index(0)])) == "5:10")
    #expect(at(ConfigurationPath([.key("list"), .index(1), .key("inner")])) == "6:5")
    #expect(at(ConfigurationPath([.key("list"), .index(1), .key("deep"), .key("x")])) == "6:25")
    #expect(at(ConfigurationPath([.key("list"), .index(2), .index(0)])) == "6:37")
    #expect(at(["a", "b.c"]) == "8:4")
    #expect(at(["a", "b.c", "d", "e"]) == "9:1")
    #expect(at(ConfigurationPath([.key("t"), .index(0), .key("k")])) == "11:1")
    #expect(at(ConfigurationPath([.key("t"), .index(0), .key("sub"), .key("k")])) == "13:1")
    #expect(at(ConfigurationPath([.key("t"), .index(1)])) == "14:3")
    #expect(at(["trap"]) == "1:1")
  }

  @Test(
    "the scan for keys ends on every text",
    arguments: ["[", "[[", "a", "a=", "a=[", "a={", "a={b", "\"", "'''", "\"\"\"\\", "a = \"\\u", "= =", "]", "]]}", "\u{feff}a=1"])
  func ends(_ text: String) {
    #expect(TOMLPositions(text).position(of: ["none"]).line >= 1)
  }
}
