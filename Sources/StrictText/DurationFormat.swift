/// Durations as people write them: `500ms`, `15m`, `1h30m`.
public enum DurationFormat {
  /// Why a text is not a duration.
  public enum Problem: Error, Sendable, Hashable {
    /// It does not have the form of a duration.
    case malformed
    /// The number of milliseconds does not fit `Int64`.
    case tooLong
  }

  /// A unit's name and its length in milliseconds.
  public typealias Unit = (name: String, milliseconds: Int64)

  /// Days to milliseconds, the largest first.
  public static let units: [Unit] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)]

  /// Weeks to milliseconds, the largest first.
  public static let unitsWithWeeks: [Unit] = [("w", 604_800_000)] + units

  /// Reads whole numbers with units, larger units first and each unit at most once.
  ///
  /// - Parameter units: The allowed units, the largest first.
  /// - Returns: Milliseconds.
  public static func milliseconds(of text: Substring, units: [Unit] = units) throws(Problem) -> Int64 {
    var rest = text
    var total: Int64 = 0
    var next = 0
    repeat {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      let name = rest.prefix { $0.isASCII && $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard !digits.isEmpty, let unit = units[next...].firstIndex(where: { $0.name == name }) else { throw .malformed }
      guard let number = Int64(digits) else { throw .tooLong }
      next = unit + 1
      let (part, partOverflow) = number.multipliedReportingOverflow(by: units[unit].milliseconds)
      let (sum, sumOverflow) = total.addingReportingOverflow(part)
      guard !partOverflow, !sumOverflow else { throw .tooLong }
      total = sum
    } while !rest.isEmpty
    return total
  }

  /// The shortest text that ``milliseconds(of:units:)`` reads as this duration; `0s` for zero and negative durations.
  public static func text(milliseconds: Int64) -> String {
    let text = parts(of: milliseconds).map { "\($0.number)\(units[$0.unit].name)" }.joined()
    return text.isEmpty ? "0s" : text
  }

  /// The number of each unit in a duration, the largest unit first; units with the number 0 are left out.
  ///
  /// - Returns: `unit` is an index of ``units``.
  public static func parts(of milliseconds: Int64) -> [(number: Int64, unit: Int)] {
    var rest = max(0, milliseconds)
    return units.indices.compactMap { unit in
      let number = rest / units[unit].milliseconds
      rest %= units[unit].milliseconds
      return number > 0 ? (number, unit) : nil
    }
  }

  /// The two largest units of a duration, for people: `1h 30m`, `4.2s`, `300ms`.
  public static func words(milliseconds: Int64) -> String {
    let length = milliseconds.magnitude
    let sign = milliseconds < 0 ? "-" : ""
    switch length {
    case 0..<1000: return "\(sign)\(length)ms"
    case 1000..<60_000:
      let tenths = length / 100
      return tenths % 10 == 0 ? "\(sign)\(tenths / 10)s" : "\(sign)\(tenths / 10).\(tenths % 10)s"
    default:
      let parts = units.map { ($0.name, length / UInt64($0.milliseconds), $0.milliseconds) }
      guard let first = parts.firstIndex(where: { $0.1 > 0 }) else { return "\(sign)\(length)ms" }
      let (name, count, unit) = parts[first]
      let next = parts[first + 1]
      let remaining = length % UInt64(unit) / UInt64(next.2)
      return "\(sign)\(count)\(name)" + (remaining > 0 ? " \(remaining)\(next.0)" : "")
    }
  }
}
