/// A task identifier, or the beginning of one with `*` for the rest; `*` alone matches every identifier.
public struct IdentifierPattern: Sendable, Hashable, CustomStringConvertible {
  /// The characters before the `*`, or all.
  private let prefix: String

  /// Whether it names one identifier in full.
  public let isExact: Bool

  /// Reads a pattern; nil if what is before the `*` could not begin an identifier.
  public init?(_ text: String) {
    isExact = text.utf8.last != UInt8(ascii: "*")
    prefix = isExact ? text : String(text.dropLast())
    guard prefix.isEmpty ? !isExact : Self.isIdentifier(prefix) else { return nil }
  }

  /// As written in the configuration.
  public var description: String { isExact ? prefix : prefix + "*" }

  /// Whether `identifier` is the one it names, or begins as it says.
  public func matches(_ identifier: String) -> Bool {
    isExact ? identifier == prefix : identifier.hasPrefix(prefix)
  }

  /// Whether a text is a task identifier: 1 to 128 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
  public static func isIdentifier(_ text: String) -> Bool {
    guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first) else { return false }
    return text.utf8.allSatisfy { isLetterOrDigit($0) || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0) }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}
