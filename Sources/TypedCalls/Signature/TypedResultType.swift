public import TaskModel

/// The types of results. The cases are named as in a signature.
public enum TypedResultType: String, Sendable, Hashable, CaseIterable {
  /// `int8_t` to `int64_t`.
  case i8, i16, i32, i64
  /// `uint8_t` to `uint64_t`.
  case u8, u16, u32, u64
  /// `float` and `double`.
  case f32, f64
  /// `bool` (C99's `_Bool`).
  case bool
  /// `const char *`, which may be NULL. The library owns it: the host copies it and never frees it.
  case str
  /// Nothing.
  case void
  /// `taskhost_result`: the run's outcome, as a handler returns it.
  case result

  /// The allowed success rules, the default first; empty for ``result``, which states the outcome itself.
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
  /// The type of the signature's result.
  public let result: TypedResultType

  /// What was seen and what to do.
  public var description: String {
    switch result {
    case .result: "success is \"\(rule.rawValue)\", but a \"result\" already states the outcome: leave success out"
    case .void: "success is \"\(rule.rawValue)\", but \"void\" returns nothing to judge: leave success out, or write \"any\""
    default:
      "success is \"\(rule.rawValue)\", which does not apply to a result of type \(result.rawValue): "
        + "use \(result.successRules.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))"
    }
  }
}
