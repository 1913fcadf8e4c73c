/// One problem of a configuration.
public struct ConfigurationProblem: Error, Sendable, Equatable {
  /// Line in the file from 1; 0 if the problem has no place in it, such as an unreadable file.
  public let line: Int

  /// Column from 1 in characters (Unicode scalars), 0 where ``line`` is 0.
  public let column: Int

  /// The key it is about, with those of its tables: `plugin."org.example.sync".budget`; empty for syntax errors.
  public let key: String

  /// What is wrong and what to write instead.
  public let message: String

  init(line: Int, column: Int, key: String = "", message: String) {
    self.line = line
    self.column = column
    self.key = Self.oneLine(key)
    self.message = Self.oneLine(message)
  }

  /// Quotes text from the file for messages: replaces characters that would break a line or move the cursor.
  private static func oneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7f...0x9f, 0x2028, 0x2029: line.append("\u{fffd}")
      default: line.append(scalar)
      }
    }
    return String(line)
  }
}
