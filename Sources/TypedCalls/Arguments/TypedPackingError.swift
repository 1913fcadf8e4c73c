/// Why bytes are not packed arguments of a signature.
public struct TypedPackingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with them.
  public let flaw: String
  /// The offset of the flaw, from 0.
  public let offset: Int

  /// What is wrong, and where.
  public var description: String { "the packed arguments are damaged at byte \(offset): \(flaw)" }
}
