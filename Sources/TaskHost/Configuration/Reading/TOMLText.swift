/// Values as a file of the configuration has them.
enum TOMLText {
  /// A basic string, with quotes.
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  static func list(_ elements: [String]) -> String { "[\(elements.joined(separator: ", "))]" }

  /// A table on one line, its keys in order.
  static func table(_ values: [(key: String, value: String)]) -> String {
    guard !values.isEmpty else { return "{}" }
    return "{ \(values.sorted { $0.key < $1.key }.map { "\(ConfigurationPath.text(of: $0.key)) = \($0.value)" }.joined(separator: ", ")) }"
  }

  /// A number, without a fraction of zero.
  static func number(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}
