/// Why a text is not a signature.
public struct TypedSignatureError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was seen, and what to write instead.
  public let flaw: String
  /// The position in bytes of the text, from 1.
  public let column: Int

  /// Where, and what was seen there.
  public var description: String { "column \(column): \(flaw)" }
}
