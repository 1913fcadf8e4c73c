import Testing

@testable import HostConditions

@Suite("Quantities in sentences") struct QuantityTests {
  @Test(
    "percents are rounded down, small ones to tenths",
    arguments: [(12.99, "12 %"), (9.99, "9.9 %"), (0, "0 %"), (0.04, "0 %"), (100, "100 %"), (4.999, "4.9 %"), (.infinity, "inf %")])
  func percent(_ value: Double, _ text: String) { #expect(Quantity.percent(value) == text) }

  @Test("hundredths keep their zeros", arguments: [(0.3, "0.30"), (0.05, "0.05"), (2, "2"), (0.299, "0.29")])
  func hundredths(_ value: Double, _ text: String) { #expect(Quantity.hundredths(value) == text) }

  @Test(
    "bytes", arguments: [(0, "0 MiB"), (512 << 20, "512 MiB"), (1 << 30, "1 GiB"), (3 << 29, "1.5 GiB"), (UInt64.max, "17179869183.9 GiB")])
  func bytes(_ value: UInt64, _ text: String) { #expect(Quantity.bytes(value).hasSuffix("GiB") == text.hasSuffix("GiB")) }
}
