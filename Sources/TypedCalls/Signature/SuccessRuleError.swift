public import TaskModel

/// A success rule that does not fit a signature's result.
public struct SuccessRuleError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that was given.
  public let rule: SuccessRule
  /// The result it was given for.
  public let result: TypedResultType

  /// What was seen and what to do.
  public var description: String {
    switch result {
    case .result: "success is \"\(rule.rawValue)\", but a \"result\" says itself how the run went: leave success out"
    case .void: "success is \"\(rule.rawValue)\", but \"void\" returns nothing to judge: leave success out, or write \"any\""
    default:
      "success is \"\(rule.rawValue)\", which does not go with a result of type \(result.rawValue): "
        + "use \(result.successRules.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))"
    }
  }
}
