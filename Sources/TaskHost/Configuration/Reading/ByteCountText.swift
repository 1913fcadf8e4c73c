/// Amounts of bytes as operators write them: `256MiB`, `1GB`.
enum ByteCountText {
  private static let units: [String: Int] = [
    "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
  ]

  /// Reads a whole number with a unit.
  static func parse(_ text: String) throws(TextProblem) -> Int {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int(digits), let unit = units[String(text.dropFirst(digits.count))] else {
      throw TextProblem("expected a size such as \"256MiB\" or \"1GB\", or a number of bytes, found \"\(text)\"")
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow else { throw TextProblem("the size \"\(text)\" is too large") }
    return bytes
  }

  /// The number with the largest binary unit that divides it.
  static func format(_ bytes: Int) -> String {
    for name in ["TiB", "GiB", "MiB", "KiB"] {
      if let unit = units[name], bytes >= unit, bytes % unit == 0 { return "\(bytes / unit)\(name)" }
    }
    return "\(bytes)B"
  }
}
