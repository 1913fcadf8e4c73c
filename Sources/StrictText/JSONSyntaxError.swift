/// An error for a text that is not JSON or exceeds a limit.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public let flaw: String
  /// The byte offset of the flaw, from 0.
  public let offset: Int
  /// The line of the flaw, from 1.
  public let line: Int
  /// The column of the flaw in Unicode scalars, from 1.
  public let column: Int
  /// Whether the text exceeds a limit instead of being malformed.
  public let isLimit: Bool
  /// Whether arrays and objects are nested deeper than the reader goes.
  public let isTooDeep: Bool

  /// Creates an error at an offset of a text.
  ///
  /// - Parameters:
  ///   - offset: The byte offset of the flaw, from 0.
  ///   - bytes: The whole text.
  ///   - isLimit: Whether the text exceeds a limit instead of being malformed.
  ///   - isTooDeep: Whether arrays and objects are nested deeper than the reader goes.
  public init(_ flaw: String, at offset: Int, in bytes: [UInt8], isLimit: Bool = false, isTooDeep: Bool = false) {
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
    self.isTooDeep = isTooDeep
  }

  /// The place of the flaw, and what is wrong.
  public var description: String { "line \(line), column \(column): \(flaw)" }
}
