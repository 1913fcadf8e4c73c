public import TaskModel

/// The types of results, named as in a signature.
public enum TypedResultType: String, Sendable, Hashable, CaseIterable {
  /// `int8_t` to `int64_t`.
  case i8, i16, i32, i64
  /// `uint8_t` to `uint64_t`.
  case u8, u16, u32, u64
  /// `float` and `double`.
  case f32, f64
  /// `bool` (C99's `_Bool`).
  case bool
  /// `const char *`, owned by the library: it is copied and never freed. May be NULL.
  case str
  /// Nothing.
  case void
  /// `taskhost_result`: the run's outcome, as a handler returns it.
  case result

  /// The allowed success rules, the default first; empty if the type leaves no choice.
  public var successRules: [SuccessRule] {
    switch self {
    case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64: [.zero, .nonzero, .any]
    case .bool: [.nonzero, .zero, .any]
    case .str: [.any, .nonzero, .zero]
    case .f32, .f64, .void: [.any]
    case .result: []
    }
  }
}

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
