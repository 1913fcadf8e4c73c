/// How a typed handler is called: through libffi, with arguments made of the payload.
public struct TypedContract: Sendable, Hashable {
  /// What its function takes and returns, in the normal form of a signature: `i32(str account, i64 horizon_s?, task)`.
  public var signature: String
  /// Which returned values are a success; ``SuccessRule/any`` where the function returns a `result`, which says so itself.
  public var success: SuccessRule

  /// A contract as given.
  public init(signature: String, success: SuccessRule) {
    self.signature = signature
    self.success = success
  }
}
