/// Reads durations ("7d") and sizes ("1GiB") as people write them: a whole number and a unit, nothing between.
enum Quantity {
  /// Seconds in each unit of time.
  private static let seconds: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

  /// Bytes in each unit of size, decimal and binary.
  private static let bytes: [String: UInt64] = [
    "B": 1,
    "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
  ]

  /// A duration of at most 100 years; nil if `text` is malformed.
  static func duration(_ text: String) -> Duration? {
    guard let (count, unit) = split(text), let factor = seconds[unit], let whole = Int64(exactly: count) else { return nil }
    let (total, overflow) = whole.multipliedReportingOverflow(by: factor)
    guard !overflow, total <= 100 * 366 * 86_400 else { return nil }
    return .seconds(total)
  }

  /// A number of bytes; nil if `text` is malformed or exceeds 64 bits.
  static func byteCount(_ text: String) -> UInt64? {
    guard let (count, unit) = split(text), let factor = bytes[unit] else { return nil }
    let (total, overflow) = count.multipliedReportingOverflow(by: factor)
    return overflow ? nil : total
  }

  /// `bytes` for a sentence: the largest binary unit that leaves at least one, with one decimal.
  static func describe(bytes: UInt64) -> String {
    let units: [(String, UInt64)] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    for (name, size) in units where bytes >= size {
      return "\(bytes / size).\(min(9, bytes % size / (size / 10))) \(name)"
    }
    return "\(bytes) B"
  }

  private static func split(_ text: String) -> (count: UInt64, unit: String)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = UInt64(digits) else { return nil }
    return (count, String(text[digits.endIndex...]))
  }
}
