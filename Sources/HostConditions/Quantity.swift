/// Numbers as people read them.
enum Quantity {
  /// "12 %", "0.4 %".
  static func percent(_ value: Double) -> String { "\(value < 10 ? tenths(value) : whole(value)) %" }

  /// "0.31": two digits behind the point.
  static func hundredths(_ value: Double) -> String { decimal(value, digits: 2) }

  /// "512 MiB", "3.2 GiB".
  static func bytes(_ value: UInt64) -> String {
    let mebibytes = Double(value) / 1_048_576
    return mebibytes < 1024 ? "\(whole(mebibytes)) MiB" : "\(tenths(mebibytes / 1024)) GiB"
  }

  private static func tenths(_ value: Double) -> String { decimal(value, digits: 1) }

  private static func whole(_ value: Double) -> String { String(decimal(value, digits: 0)) }

  /// Rounded down, so that what is below a threshold never reads as if it had reached it.
  private static func decimal(_ value: Double, digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let scale = digits == 0 ? 1 : digits == 1 ? 10 : 100
    // The tiny part more keeps 0.3, which no Double is, from reading 0.29.
    let scaled = Int((value * Double(scale) + 1e-9).rounded(.down))
    guard digits > 0, scaled % scale != 0 else { return "\(scaled / scale)" }
    let fraction = "\(abs(scaled) % scale)"
    return "\(scaled < 0 ? "-" : "")\(abs(scaled) / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
