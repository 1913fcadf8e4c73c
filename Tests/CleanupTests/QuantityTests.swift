import Testing

@testable import Cleanup

@Suite("Quantity") struct QuantityTests {
  @Test("durations", arguments: [("0s", 0), ("90s", 90), ("15m", 900), ("6h", 21_600), ("7d", 604_800), ("2w", 1_209_600)])
  func durations(_ text: String, _ seconds: Int) {
    #expect(Quantity.duration(text) == .seconds(seconds))
  }

  @Test("sizes", arguments: [("0B", 0), ("10kB", 10_000), ("1KiB", 1024), ("1GiB", 1 << 30), ("3TB", 3_000_000_000_000)])
  func sizes(_ text: String, _ bytes: UInt64) {
    #expect(Quantity.byteCount(text) == bytes)
  }

  @Test(
    "anything else is none",
    arguments: ["", "7", "d", "-1d", "7 d", "1.5h", "7days", "99999999999999999999d", "9999999999999w", "1gib", "١d"])
  func refusals(_ text: String) {
    #expect(Quantity.duration(text) == nil)
    #expect(Quantity.byteCount(text) == nil)
  }

  @Test(
    "bytes are described in the largest unit",
    arguments: [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB"), ((2 << 30) - 1, "1.9 GiB")])
  func description(_ bytes: UInt64, _ text: String) {
    #expect(Quantity.describe(bytes: bytes) == text)
  }
}
