/// A payload that does not fit a signature.
public struct TypedPayloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The argument, or the unknown name; nil for the payload as a whole.
  public let argument: String?
  /// What was seen, and what to do.
  public let flaw: String

  /// "argument horizon_s: 9223372036854775808 does not fit i64 (…)", or the flaw of the whole.
  public var description: String { argument.map { "argument \($0): \(flaw)" } ?? flaw }
}
