/// One argument of a typed handler.
public struct TypedParameter: Sendable, Hashable, CustomStringConvertible {
  /// The argument's type.
  public let type: TypedArgumentType
  /// The name of its member in the payload; empty for ``TypedArgumentType/task``, which has none.
  public let name: String
  /// Whether the payload may omit it; the function then gets 0, false or NULL.
  public let isOptional: Bool

  /// The argument as written in a signature.
  public var description: String { type == .task ? type.rawValue : "\(type.rawValue) \(name)\(isOptional ? "?" : "")" }
}
