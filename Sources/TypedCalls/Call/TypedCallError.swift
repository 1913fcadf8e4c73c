/// A signature that cannot be called on this machine, or a success rule that does not fit it.
public enum TypedCallError: Error, Sendable, Hashable, CustomStringConvertible {
  /// libffi refused the types.
  case unsupported(status: Int)
  /// The success rule says nothing about such a result.
  case success(SuccessRuleError)

  /// What was seen.
  public var description: String {
    switch self {
    case .unsupported(let status): "libffi cannot call a function of this signature here (ffi_prep_cif: \(status))"
    case .success(let error): error.description
    }
  }
}
