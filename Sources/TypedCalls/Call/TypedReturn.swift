/// The result of a call.
public struct TypedReturn: Sendable, Hashable {
  /// What the returned value means for the run.
  public enum Verdict: Sendable, Hashable {
    /// A success according to the success rule.
    case success
    /// A failure according to the success rule.
    case failure
    /// The function returned this `taskhost_result`.
    case result(Int32)
  }

  /// What the returned value means for the run.
  public let verdict: Verdict
  /// The returned value as JSON text: see ``JSONText``.
  public let output: [UInt8]
  /// A message for the operator: why the run failed, or that the output was cut; nil if there is none.
  public let message: String?
}
