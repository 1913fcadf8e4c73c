/// How a typed handler is called: through libffi, with arguments made of the payload.
public struct TypedContract: Sendable, Hashable {
  /// The parameters and result of its function, as a normalised signature: `i32(str account, i64 horizon_s?, task)`.
  public var signature: String
  /// Which return values mean success; ``SuccessRule/any`` if the function returns a `result`, which says so itself.
  public var success: SuccessRule

  /// Creates a contract.
  public init(signature: String, success: SuccessRule) {
    self.signature = signature
    self.success = success
  }
}
