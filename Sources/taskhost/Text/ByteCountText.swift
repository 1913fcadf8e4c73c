/// Sizes as people read them: `512 B`, `4.2 MiB`.
enum ByteCountText {
  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// A size in the largest unit that leaves at least one of it, with a decimal below 100.
  static func format(_ bytes: Int64) -> String {
    guard bytes.magnitude >= 1024 else { return "\(bytes) B" }
    var (size, unit) = (Double(bytes) / 1024, 0)
    while size.magnitude >= 1024, unit < units.count - 1 { (size, unit) = (size / 1024, unit + 1) }
    let tenths = Int64((size * 10).rounded())
    return tenths.magnitude >= 1000 || tenths % 10 == 0
      ? "\(Int64(size.rounded())) \(units[unit])" : "\(tenths / 10).\(tenths.magnitude % 10) \(units[unit])"
  }
}
