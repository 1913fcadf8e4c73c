/// One argument of a typed handler.
public struct TypedParameter: Sendable, Hashable, CustomStringConvertible {
  /// What it is.
  public let type: TypedArgumentType
  /// The member of the payload that holds it; empty for ``TypedArgumentType/task``, which has none.
  public let name: String
  /// Whether the payload may omit it; the function then gets 0, false or NULL.
  public let isOptional: Bool

  /// As it stands in a signature.
  public var description: String { type == .task ? type.rawValue : "\(type.rawValue) \(name)\(isOptional ? "?" : "")" }
}
