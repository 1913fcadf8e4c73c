/// A text that is not JSON, or exceeds a limit.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong there.
  public let flaw: String
  /// The byte it was noticed at, from 0.
  public let offset: Int
  /// Its line, from 1.
  public let line: Int
  /// Its character in the line, from 1.
  public let column: Int
  /// Whether the text is too large rather than wrong.
  public let isLimit: Bool

  /// An error at a place of a text.
  ///
  /// - Parameters:
  ///   - offset: The byte it was noticed at, from 0.
  ///   - bytes: The whole text.
  ///   - isLimit: Whether the text is too large rather than wrong.
  public init(_ flaw: String, at offset: Int, in bytes: [UInt8], isLimit: Bool = false) {
    var line = 1
    var column = 1
    for byte in bytes.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0b1100_0000 != 0b1000_0000 {
        column += 1
      }
    }
    self.flaw = flaw
    self.offset = offset
    self.line = line
    self.column = column
    self.isLimit = isLimit
  }

  /// Where, and what is wrong there.
  public var description: String { "line \(line), column \(column): \(flaw)" }
}
