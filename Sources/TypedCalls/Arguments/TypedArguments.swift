/// The arguments of one call, read from a payload and checked against a signature.
public struct TypedArguments: Sendable, Hashable {
  /// A value for each argument except `task`, in the signature's order.
  public let values: [TypedValue]
}
