import CalendarTime
import TaskModel
import Testing

@Suite("RFC 3339") struct RFC3339Tests {
  @Test(
    "moments are written and read",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"), (1_795_248_000_123, "2026-11-21T08:00:00.123Z"),
      (-1000, "1969-12-31T23:59:59Z"), (253_402_300_799_000, "9999-12-31T23:59:59Z"), (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
    ])
  func moments(_ milliseconds: Int64, _ text: String) {
    #expect(RFC3339.format(WallTime(unixMilliseconds: milliseconds)) == text)
    #expect(RFC3339.parse(text) == WallTime(unixMilliseconds: milliseconds))
  }

  @Test("an offset is east of UTC, a fraction is cut at milliseconds")
  func offsets() {
    #expect(RFC3339.parse("1970-01-01T01:00:00+01:00") == WallTime(unixMilliseconds: 0))
    #expect(RFC3339.parse("1969-12-31T19:00:00.5-05:00") == WallTime(unixMilliseconds: 500))
    #expect(RFC3339.parse("1970-01-01t00:00:00.123999z") == WallTime(unixMilliseconds: 123))
  }

  @Test(
    "what is no moment is refused",
    arguments: [
      "", "2026-11-21", "2026-11-21T08:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-21T24:00:00Z",
      "2026-11-21T08:00:00.Z", "2026-11-21T08:00:00ZZ", "2026-11-21T08:00:00+0100", "26-11-21T08:00:00Z",
    ])
  func refused(_ text: String) {
    #expect(RFC3339.parse(text) == nil)
  }

  @Test("years that the format cannot write have no text")
  func outside() {
    #expect(RFC3339.format(WallTime(unixMilliseconds: .max)) == nil)
    #expect(RFC3339.format(WallTime(unixMilliseconds: .min)) == nil)
  }
}
