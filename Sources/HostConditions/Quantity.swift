enum Quantity {
  /// "12 %", "0.4 %".
  static func percent(_ value: Double) -> String { "\(decimal(value, digits: value < 10 ? 1 : 0)) %" }

  /// "0.31": up to two decimals.
  static func hundredths(_ value: Double) -> String { decimal(value, digits: 2) }

  /// "512 MiB", "3.2 GiB".
  static func bytes(_ value: UInt64) -> String {
    let mebibytes = Double(value) / 1_048_576
    return mebibytes < 1024 ? "\(decimal(mebibytes, digits: 0)) MiB" : "\(decimal(mebibytes / 1024, digits: 1)) GiB"
  }

  /// Rounds down, so that a value below a threshold never looks as if it had reached it.
  private static func decimal(_ value: Double, digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let scale = digits == 0 ? 1 : digits == 1 ? 10 : 100
    // No Double is exactly 0.3: the small addition prevents 0.29.
    let scaled = Int((value * Double(scale) + 1e-9).rounded(.down))
    guard digits > 0, scaled % scale != 0 else { return "\(scaled / scale)" }
    let fraction = "\(abs(scaled) % scale)"
    return "\(scaled < 0 ? "-" : "")\(abs(scaled) / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
