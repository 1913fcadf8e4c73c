/// The result of a call.
public struct TypedReturn: Sendable, Hashable {
  /// What the returned value means for the run.
  public enum Verdict: Sendable, Hashable {
    /// By the success rule it is a success.
    case success
    /// By the success rule it is not a success.
    case failure
    /// The function returned a `taskhost_result` itself.
    case result(Int32)
  }

  /// What the returned value means for the run.
  public let verdict: Verdict
  /// The returned value as JSON text: see ``JSONText``.
  public let output: [UInt8]
  /// A message for the operator: why it is a failure, or that the output was cut; nil if there is none.
  public let message: String?
}
