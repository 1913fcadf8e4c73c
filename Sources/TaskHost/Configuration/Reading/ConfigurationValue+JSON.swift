import StrictText

extension ConfigurationValue {
  /// As JSON without spaces, the keys of objects sorted by their bytes. Infinity and not-a-number, which JSON lacks, become null; see
  /// ``firstNotInJSON(at:)``.
  var json: String {
    switch self {
    case .string(let text), .date(let text): text.quotedForJSON
    case .integer(let number): String(number)
    case .number(let number): number.isFinite ? number.description : "null"
    case .bool(let value): value ? "true" : "false"
    case .array(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
    case .table(let values):
      "{"
        + values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .map { $0.key.quotedForJSON + ":" + $0.value.json }.joined(separator: ",") + "}"
    }
  }

  /// The place of the first number that JSON cannot express.
  func firstNotInJSON(at path: ConfigurationPath) -> ConfigurationPath? {
    switch self {
    case .number(let number): number.isFinite ? nil : path
    case .array(let values): values.enumerated().lazy.compactMap { $1.firstNotInJSON(at: path.appending($0)) }.first
    case .table(let values):
      values.sorted { $0.key < $1.key }.lazy.compactMap { $1.firstNotInJSON(at: path.appending($0)) }.first
    case .string, .integer, .bool, .date: nil
    }
  }
}
