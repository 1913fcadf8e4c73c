public import TaskModel

/// What a typed handler's function takes and returns: `i32(str account, i64 horizon_s?, bytes blob, task)`.
///
/// A type, then in parentheses the arguments: each a type, a name, and a `?` if the payload may omit it; `task` stands alone. Nothing can
/// check a signature: if it does not match the function, the call has undefined behaviour.
public struct TypedSignature: Sendable, Hashable, CustomStringConvertible {
  /// Bytes of a signature's text.
  public static let maximumBytes = Limits.signatureBytes
  /// Arguments of a signature; each `bytes` is one.
  public static let maximumArguments = 32
  /// Bytes of an argument's name.
  public static let maximumNameBytes = 64

  /// What the function returns.
  public let result: TypedResultType
  /// Its arguments, first to last.
  public let parameters: [TypedParameter]

  /// Reads a signature.
  ///
  /// - Throws: ``TypedSignatureError`` with the place of the first flaw.
  public init(_ text: String) throws(TypedSignatureError) {
    var parser = TypedSignatureParser(text)
    (result, parameters) = try parser.signature()
  }

  /// The arguments that are members of the payload.
  var members: [TypedParameter] { parameters.filter { $0.type != .task } }

  /// The signature in normal form; parsing it gives the same signature.
  public var description: String { "\(result.rawValue)(\(parameters.map(\.description).joined(separator: ", ")))" }

  /// The success rule for this result; nil means the result type's default.
  ///
  /// - Throws: If the rule does not apply to this result.
  public func successRule(_ rule: SuccessRule?) throws(SuccessRuleError) -> SuccessRule {
    let rules = result.successRules
    guard let rule else { return rules.first ?? .any }
    guard rules.contains(rule) else { throw SuccessRuleError(rule: rule, result: result) }
    return rule
  }
}
