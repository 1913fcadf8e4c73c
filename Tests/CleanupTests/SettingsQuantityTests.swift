import StrictText
import Testing

@testable import Cleanup

@Suite("Durations and sizes in settings") struct SettingsQuantityTests {
  private func fields(_ text: String) -> SettingsTable { SettingsTable(.object(["a": .string(text)]), at: "rules[0]", known: ["a"]) }

  @Test(
    "durations",
    arguments: [("0s", 0), ("90s", 90), ("15m", 900), ("6h", 21_600), ("7d", 604_800), ("2w", 1_209_600), ("1d12h", 129_600)])
  func durations(_ text: String, _ seconds: Int) {
    var fields = fields(text)
    #expect(fields.duration("a") == .seconds(seconds) && fields.problems.isEmpty)
  }

  @Test("sizes", arguments: [("0B", 0), ("10kB", 10_000), ("1KiB", 1024), ("1GiB", 1 << 30), ("3TB", 3_000_000_000_000)])
  func sizes(_ text: String, _ bytes: UInt64) {
    var fields = fields(text)
    #expect(fields.byteCount("a") == bytes && fields.problems.isEmpty)
  }

  @Test(
    "anything else is none",
    arguments: [
      "", "7", "d", "-1d", "7 d", "1.5h", "7days", "99999999999999999999d", "9999999999999w", "101w1000000d", "500ms", "1gib", "١d",
    ])
  func refusals(_ text: String) {
    var fields = fields(text)
    #expect(fields.duration("a") == nil)
    #expect(fields.byteCount("a") == nil)
    #expect(fields.problems.count == 2)
  }
}
