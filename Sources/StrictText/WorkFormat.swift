/// The work and the progress of runs in words.
public enum WorkFormat {
  /// `9 of 10 items, 1 failed, 2 KiB in, 3 KiB out`, without what is zero; `nothing` if all is.
  public static func words(attempted: UInt64, completed: UInt64, failed: UInt64, bytesIn: UInt64, bytesOut: UInt64) -> String {
    var parts: [String] = []
    if attempted > 0 {
      let items = attempted == 1 ? "item" : "items"
      parts.append(completed == attempted ? "\(completed) \(items)" : "\(completed) of \(attempted) \(items)")
    }
    if failed > 0 { parts.append("\(failed) failed") }
    if bytesIn > 0 { parts.append("\(ByteCountFormat.words(bytesIn)) in") }
    if bytesOut > 0 { parts.append("\(ByteCountFormat.words(bytesOut)) out") }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }

  /// `3 of 10 files`, `3 files` without a total, `1.5 MiB of 3 MiB` of bytes.
  ///
  /// - Parameter total: 0 if it is unknown.
  public static func amount(completed: UInt64, total: UInt64, unit: String?) -> String {
    let isBytes = unit == "bytes"
    func number(_ count: UInt64) -> String { isBytes ? ByteCountFormat.words(count) : "\(count)" }
    let unit = isBytes ? "" : unit.map { " \($0)" } ?? ""
    if total == 0 { return number(completed) + unit }
    return "\(number(completed)) of \(number(total))\(unit)"
  }

  /// 0 to 100; nil without a total.
  public static func percent(completed: UInt64, total: UInt64) -> Int? {
    guard total > 0 else { return nil }
    return Int(min(100, Double(completed) / Double(total) * 100))
  }
}
