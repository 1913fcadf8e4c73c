/// Sizes as people write them (`256MiB`, `1GB`) and as they read them (`4.2 MiB`).
public enum ByteCountFormat {
  /// Why a text is not a size.
  public enum Problem: Error, Sendable, Hashable {
    /// It does not have the form of a size.
    case malformed
    /// The number of bytes does not fit `Int64`.
    case tooLarge
  }

  private static let binaryUnits = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  private static let units: [String: Int64] = [
    "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
  ]

  /// Reads a whole number with a unit from `B` to `TB` or `TiB`.
  public static func bytes(of text: String) throws(Problem) -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits), let unit = units[String(text.dropFirst(digits.count))] else { throw .malformed }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow else { throw .tooLarge }
    return bytes
  }

  /// The text that ``bytes(of:)`` reads as this size: a whole number of the largest possible binary unit.
  public static func text(_ bytes: Int64) -> String {
    for name in ["TiB", "GiB", "MiB", "KiB"] {
      if let unit = units[name], bytes >= unit, bytes % unit == 0 { return "\(bytes / unit)\(name)" }
    }
    return "\(bytes)B"
  }

  /// A size for a sentence, in the largest binary unit of which it has at least one; rounded, with one decimal below 100.
  public static func words(_ bytes: some BinaryInteger) -> String {
    guard bytes.magnitude >= 1024 else { return "\(bytes) B" }
    var (size, unit) = (Double(bytes) / 1024, 0)
    while size.magnitude >= 1024, unit < binaryUnits.count - 1 { (size, unit) = (size / 1024, unit + 1) }
    let tenths = Int64((size * 10).rounded())
    return tenths.magnitude >= 1000 || tenths % 10 == 0
      ? "\(Int64(size.rounded())) \(binaryUnits[unit])" : "\(tenths / 10).\(tenths.magnitude % 10) \(binaryUnits[unit])"
  }
}
