/// How the host calls a typed handler: through libffi, with arguments made from the payload.
public struct TypedContract: Sendable, Hashable {
  /// The parameters and result of the function, as a normalised signature: `i32(str account, i64 horizon_s?, task)`.
  public var signature: String
  /// Which return values mean success; ``SuccessRule/any`` if the function returns a `result`, which names its own outcome.
  public var success: SuccessRule

  /// Creates a contract.
  public init(signature: String, success: SuccessRule) {
    self.signature = signature
    self.success = success
  }
}
