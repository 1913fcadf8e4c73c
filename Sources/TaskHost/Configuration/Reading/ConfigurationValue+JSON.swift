extension ConfigurationValue {
  /// As JSON without spaces, the keys of objects sorted by their bytes. Infinity and not-a-number, which JSON lacks, become null; see
  /// ``firstNotInJSON(at:)``.
  var json: String {
    switch self {
    case .string(let text), .date(let text): Self.quoted(text)
    case .integer(let number): String(number)
    case .number(let number): number.isFinite ? number.description : "null"
    case .bool(let value): value ? "true" : "false"
    case .array(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
    case .table(let values):
      "{"
        + values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .map { Self.quoted($0.key) + ":" + $0.value.json }.joined(separator: ",") + "}"
    }
  }

  /// Where the first number is that JSON cannot write, if any.
  func firstNotInJSON(at path: ConfigurationPath) -> ConfigurationPath? {
    switch self {
    case .number(let number): number.isFinite ? nil : path
    case .array(let values): values.enumerated().lazy.compactMap { $1.firstNotInJSON(at: path.appending($0)) }.first
    case .table(let values):
      values.sorted { $0.key < $1.key }.lazy.compactMap { $1.firstNotInJSON(at: path.appending($0)) }.first
    case .string, .integer, .bool, .date: nil
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
