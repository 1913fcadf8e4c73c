import StrictText
import Testing

@Suite("Sizes") struct ByteCountFormatTests {
  @Test(
    "a whole number with a unit is read",
    arguments: [("0B", 0), ("10kB", 10_000), ("10KB", 10_000), ("1KiB", 1024), ("1GiB", 1 << 30), ("3TB", 3_000_000_000_000)])
  func reading(_ text: String, _ bytes: Int64) throws {
    #expect(try ByteCountFormat.bytes(of: text) == bytes)
  }

  @Test("anything else is none", arguments: ["", "7", "B", "-1B", "7 B", "1.5GiB", "1gib", "99999999999999999999B", "١B"])
  func refusals(_ text: String) {
    #expect(throws: ByteCountFormat.Problem.malformed) { try ByteCountFormat.bytes(of: text) }
  }

  @Test("more than a number of bytes can say is too large")
  func tooLarge() throws {
    #expect(throws: ByteCountFormat.Problem.tooLarge) { try ByteCountFormat.bytes(of: "8388608TiB") }
    #expect(try ByteCountFormat.bytes(of: "8388607TiB") == 8_388_607 << 40)
  }

  @Test("what is written is read again", arguments: [(0, "0B"), (1000, "1000B"), (3 << 20, "3MiB"), (1 << 40, "1TiB"), (1025, "1025B")])
  func writing(_ bytes: Int64, _ text: String) throws {
    #expect(ByteCountFormat.text(bytes) == text)
    #expect(try ByteCountFormat.bytes(of: text) == bytes)
  }

  @Test(
    "sentences have the unit that fits",
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (6_500_000, "6.2 MiB"), (268_435_456, "256 MiB"), (-2048, "-2 KiB"),
      (Int64.max, "8 EiB"), (Int64.min, "-8 EiB"),
    ])
  func words(_ bytes: Int64, _ text: String) {
    #expect(ByteCountFormat.words(bytes) == text)
  }
}
