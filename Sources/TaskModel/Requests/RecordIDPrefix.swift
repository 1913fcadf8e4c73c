/// The beginning of an id of a request or a run, as people copy it.
public struct RecordIDPrefix: Sendable, Hashable {
  /// The beginning, in lower case.
  public let text: String
  /// Sequences of ids that begin so; some ids of this range may not.
  public let sequences: ClosedRange<Int64>

  /// Reads 1 to 36 characters; nil if no id begins so.
  public init?(_ text: String) {
    var (low, high, digits) = (UInt64(0), UInt64(0), 0)
    for (index, byte) in text.utf8.enumerated() {
      guard index < 36 else { return nil }
      if [8, 13, 18, 23].contains(index) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
      digits += 1
      if digits == 13 {
        guard digit == 7 else { return nil }
      } else if digits <= 16 {
        (low, high) = (low << 4 | UInt64(digit), high << 4 | UInt64(digit))
      }
    }
    guard digits > 0 else { return nil }
    // 15 digits are of the sequence: all of the first 16 but the version.
    let left = 15 - UInt64(min(digits, 16) - (digits >= 13 ? 1 : 0))
    low <<= 4 * left
    high = high << (4 * left) | (1 << (4 * left) - 1)
    sequences = Int64(truncatingIfNeeded: low)...Int64(truncatingIfNeeded: high)
    self.text = text.lowercased()
  }

  /// Whether an id begins so.
  public func matches<Kind>(_ id: RecordID<Kind>) -> Bool { sequences.contains(id.sequence) && id.description.hasPrefix(text) }
}
