/// The id of a request or a run: a UUID of version 7 (RFC 9562 §5.7), so ids sort by creation time.
///
/// The first 60 free bits, ``sequence``, are unique within a store, where they are the row's key. The last 62, ``origin``, are drawn once
/// for each store, so that ids of different hosts never collide.
public struct RecordID<Kind>: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Milliseconds since 1970 (48 bits) and a counter (12 bits): unique and increasing within a store.
  public let sequence: Int64
  /// The store's own 62 bits.
  public let origin: UInt64

  /// Creates the id with that sequence in the store `origin`. Drops bits beyond 60 and 62.
  public init(sequence: Int64, origin: UInt64) {
    self.sequence = sequence & 0x0FFF_FFFF_FFFF_FFFF
    self.origin = origin & 0x3FFF_FFFF_FFFF_FFFF
  }

  /// Parses the textual form; nil for anything but a UUID of version 7.
  public init?(_ text: String) {
    var digits: [UInt8] = []
    digits.reserveCapacity(32)
    for (index, byte) in text.utf8.enumerated() {
      if [8, 13, 18, 23].contains(index) {
        guard byte == UInt8(ascii: "-") else { return nil }
      } else {
        guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
        digits.append(UInt8(digit))
      }
    }
    guard digits.count == 32, digits[12] == 7, digits[16] & 0b1100 == 0b1000 else { return nil }
    let time = digits[0..<12].reduce(UInt64(0)) { $0 << 4 | UInt64($1) }
    let counter = digits[13..<16].reduce(UInt64(0)) { $0 << 4 | UInt64($1) }
    let low = digits[16..<32].reduce(UInt64(0)) { $0 << 4 | UInt64($1) }
    self.init(sequence: Int64(truncatingIfNeeded: time << 12 | counter), origin: low)
  }

  /// Creates the smallest id that can be drawn at `time` or later.
  public init(firstAt time: WallTime, origin: UInt64) {
    self.init(sequence: max(0, min(time.unixMilliseconds, 1 << 47)) << 12, origin: origin)
  }

  /// The UUID in its usual form: 36 lower-case characters.
  public var description: String {
    let high = (UInt64(bitPattern: sequence) >> 12) << 16 | 0x7000 | UInt64(bitPattern: sequence) & 0xFFF
    let low = origin | 0x8000_0000_0000_0000
    return String(unsafeUninitializedCapacity: 36) { buffer in
      var position = 0
      for (word, half) in [(high, 0), (low, 1)] {
        for nibble in 0..<16 {
          if position == 8 || position == 13 || position == 18 || position == 23 {
            buffer[position] = UInt8(ascii: "-")
            position += 1
          }
          let value = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * nibble) & 0xF)
          buffer[position] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
          position += 1
        }
        if half == 1 { break }
      }
      return position
    }
  }

  /// Orders by creation time; for ids of two stores, the origin breaks a tie.
  public static func < (left: RecordID, right: RecordID) -> Bool { (left.sequence, left.origin) < (right.sequence, right.origin) }
}

/// Distinguishes ``RequestID`` from ``RunID``.
public enum RequestTag {}
/// Distinguishes ``RunID`` from ``RequestID``.
public enum RunTag {}

/// The id of a task request, which stays the same over all its attempts and occurrences.
public typealias RequestID = RecordID<RequestTag>
/// The id of one run of a request.
public typealias RunID = RecordID<RunTag>
