import StrictText
import Testing

@Suite("Durations") struct DurationFormatTests {
  @Test(
    "numbers with units are read, the larger units first",
    arguments: [("0s", 0), ("500ms", 500), ("90s", 90_000), ("7d", 604_800_000), ("1h30m", 5_400_000), ("1d2h3m4s5ms", 93_784_005)])
  func reading(_ text: String, _ milliseconds: Int64) throws {
    #expect(try DurationFormat.milliseconds(of: text[...]) == milliseconds)
  }

  @Test("anything else is none", arguments: ["", "5", "s", "1x", "2w", "1h 30m", "1m1h", "1s1s", "1.5h", "+1s", "-1s", "1S", "٣s"])
  func refusals(_ text: String) {
    #expect(throws: DurationFormat.Problem.malformed) { try DurationFormat.milliseconds(of: text[...]) }
  }

  @Test("weeks are read where they may be used")
  func weeks() throws {
    #expect(try DurationFormat.milliseconds(of: "2w1d", units: DurationFormat.unitsWithWeeks) == 15 * 86_400_000)
  }

  @Test("what a number of milliseconds cannot say is too long", arguments: ["9223372036854775807s", "106751991167d9223372036854775807ms"])
  func tooLong(_ text: String) {
    #expect(throws: DurationFormat.Problem.tooLong) { try DurationFormat.milliseconds(of: text[...]) }
  }

  @Test(
    "what is written is read again",
    arguments: [(0, "0s"), (5, "5ms"), (61_000, "1m1s"), (93_784_005, "1d2h3m4s5ms"), (Int64.max, "106751991167d7h12m55s807ms")])
  func writing(_ milliseconds: Int64, _ text: String) throws {
    #expect(DurationFormat.text(milliseconds: milliseconds) == text)
    #expect(try DurationFormat.milliseconds(of: text[...]) == milliseconds)
  }

  @Test("a negative duration is written as none")
  func negative() { #expect(DurationFormat.text(milliseconds: .min) == "0s") }
}
