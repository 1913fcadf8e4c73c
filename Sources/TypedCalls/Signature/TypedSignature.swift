public import TaskModel

/// The arguments and result of a typed handler's function, such as `i32(str account, i64 horizon_s?, bytes blob, task)`.
///
/// The result type comes first, then the arguments in parentheses. An argument is a type, a name, and a `?` if the payload may omit it;
/// `task` has no name. Nothing can check a signature against the function: if they do not match, the call has undefined behaviour.
public struct TypedSignature: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of a signature's text in bytes.
  public static let maximumBytes = Limits.signatureBytes
  /// The maximum number of arguments; a `bytes` argument counts once.
  public static let maximumArguments = 32
  /// The maximum length of an argument's name in bytes.
  public static let maximumNameBytes = 64

  /// The type that the function returns.
  public let result: TypedResultType
  /// The function's arguments, in order.
  public let parameters: [TypedParameter]

  /// Reads a signature.
  ///
  /// - Throws: ``TypedSignatureError`` with the place of the first flaw.
  public init(_ text: String) throws(TypedSignatureError) {
    var parser = TypedSignatureParser(text)
    (result, parameters) = try parser.signature()
  }

  /// The arguments that come from the payload.
  var members: [TypedParameter] { parameters.filter { $0.type != .task } }

  /// The signature in normal form; parsing it gives the same signature.
  public var description: String { "\(result.rawValue)(\(parameters.map(\.description).joined(separator: ", ")))" }

  /// The success rule for this result; nil means the result type's default.
  ///
  /// - Throws: ``SuccessRuleError`` if the rule does not apply to this result.
  public func successRule(_ rule: SuccessRule?) throws(SuccessRuleError) -> SuccessRule {
    let rules = result.successRules
    guard let rule else { return rules.first ?? .any }
    guard rules.contains(rule) else { throw SuccessRuleError(rule: rule, result: result) }
    return rule
  }
}
