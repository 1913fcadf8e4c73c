/// Bytes that are no packed arguments of a signature.
public struct TypedPackingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with them.
  public let flaw: String
  /// The byte it was noticed at, from 0.
  public let offset: Int

  /// What is wrong, and where.
  public var description: String { "the packed arguments are damaged at byte \(offset): \(flaw)" }
}
