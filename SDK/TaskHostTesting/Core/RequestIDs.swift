/// The ids of requests: UUIDs, as the host's are, but counted, so that a test sees the same ones each time.
enum RequestIDs {
  /// The id of the nth request.
  static func id(_ number: UInt64, unixMilliseconds: Int64) -> String {
    let time = hex(UInt64(clamping: unixMilliseconds), digits: 12)
    return "\(time.prefix(8))-\(time.dropFirst(8))-7000-8000-\(hex(number, digits: 12))"
  }

  /// Whether a text has the form of one.
  static func isOne(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.utf8.allSatisfy(isHexDigit) }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
  }

  private static func hex(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text.suffix(digits)
  }
}
