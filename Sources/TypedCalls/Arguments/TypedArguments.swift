/// The arguments of one call, checked against a signature: what a payload becomes before anything runs.
public struct TypedArguments: Sendable, Hashable {
  /// A value for each argument but `task`, in the signature's order.
  public let values: [TypedValue]
}
