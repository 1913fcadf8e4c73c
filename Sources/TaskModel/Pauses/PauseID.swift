/// The number of a ``Pause``: short, because people type it. A store gives each number once.
public struct PauseID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number, from 1.
  public let number: Int64

  /// Creates an id.
  public init(_ number: Int64) { self.number = number }

  /// Reads decimal digits; nil for anything else.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text), number > 0 else { return nil }
    self.number = number
  }

  /// The number in decimal digits.
  public var description: String { "\(number)" }

  /// Older pauses have smaller numbers.
  public static func < (left: PauseID, right: PauseID) -> Bool { left.number < right.number }
}
