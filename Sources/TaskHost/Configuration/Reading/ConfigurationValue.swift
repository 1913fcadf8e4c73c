/// A value of a TOML file, copied out of the parser's memory.
enum ConfigurationValue {
  case string(String)
  case integer(Int)
  case number(Double)
  case bool(Bool)
  /// A date, a time or both, as RFC 3339 writes it.
  case date(String)
  case array([ConfigurationValue])
  case table([String: ConfigurationValue])

  var isTable: Bool {
    if case .table = self { return true }
    return false
  }

  /// Its type with an article, for "expected …, found an integer".
  var typeName: String {
    switch self {
    case .string: "a string"
    case .integer: "an integer"
    case .number: "a floating-point number"
    case .bool: "a boolean"
    case .date: "a date or time"
    case .array: "a list"
    case .table: "a table"
    }
  }
}
