import StrictText
import TOMLKit
import TaskModel

/// Reads a TOML text into structures by their lists of fields, and collects all problems instead of stopping at the first.
final class TOMLReader {
  let root: [String: ConfigurationValue]

  /// The absolute directory of relative paths.
  let directory: String

  private(set) var problems: [ConfigurationProblem] = []

  private let positions: TOMLPositions
  /// Paths with a problem at or below them: their values cannot be relied on.
  private var unsound: Set<ConfigurationPath> = []

  /// - Throws: The syntax error, if the text is not TOML.
  init(text: String, directory: String) throws(ConfigurationProblem) {
    self.directory = directory
    // The parser takes C strings and would stop there.
    if let zero = text.unicodeScalars.firstIndex(of: "\0") {
      let before = text.unicodeScalars[..<zero]
      let line = before.reduce(1) { $0 + ($1 == "\n" ? 1 : 0) }
      let column = before.reversed().prefix { $0 != "\n" }.count + 1
      throw ConfigurationProblem(line: line, column: column, message: "a zero byte does not belong into a text file")
    }
    let positions = TOMLPositions(text)
    if let fatal = positions.fatal {
      // An earlier error takes precedence.
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      _ = try Self.parse(lines.prefix(fatal.statementLine - 1).joined(separator: "\n"), positions)
      throw ConfigurationProblem(line: fatal.position.line, column: fatal.position.column, message: "not valid TOML: \(fatal.message)")
    }
    root = try Self.parse(text, positions)
    self.positions = positions
    for position in positions.zeroEscapes {
      problems.append(
        ConfigurationProblem(line: position.line, column: position.column, message: "a string cannot have a zero character in it"))
    }
  }

  private static func parse(_ text: String, _ positions: TOMLPositions) throws(ConfigurationProblem) -> [String: ConfigurationValue] {
    do {
      return ConfigurationValue.copy(try TOMLTable(string: text))
    } catch let error as TOMLParseError {
      let (line, column) = (max(error.source.begin.line, 1), max(error.source.begin.column, 1))
      // The parser may quote the value.
      let isSecret = positions.path(before: line, column)?.mayHoldSecret ?? false
      throw ConfigurationProblem(
        line: line, column: column, message: "not valid TOML\(isSecret ? ": this value cannot be read" : ": \(error.description)")")
    } catch {
      throw ConfigurationProblem(line: 1, column: 1, message: "not valid TOML: \(error)")
    }
  }

  /// Reads each key of `table` with the field of that name. Reports keys without a field.
  func read<Root>(_ table: [String: ConfigurationValue], _ fields: [TOMLField<Root>], into root: inout Root, at path: ConfigurationPath) {
    for (key, value) in table {
      let place = path.appending(key)
      guard let field = fields.first(where: { $0.name == key }) else {
        reportUnknown(key, at: place, known: fields.map(\.name))
        continue
      }
      field.read(&root, value, place, self)
    }
  }

  /// Reports a value that is not a table.
  func table(_ value: ConfigurationValue, at path: ConfigurationPath) -> [String: ConfigurationValue]? {
    if case .table(let table) = value { return table }
    reportType(value, at: path, expected: "a table")
    return nil
  }

  func report(_ path: ConfigurationPath, _ message: String) {
    let position = positions.position(of: path)
    problems.append(ConfigurationProblem(line: position.line, column: position.column, key: path.description, message: message))
    var current: ConfigurationPath? = path
    while let path = current {
      unsound.insert(path)
      current = path.parent
    }
  }

  /// Whether the last key of a path is a valid name for something that requests refer to. Reports a problem if not.
  func isName(_ name: String, at path: ConfigurationPath, _ kind: String) -> Bool {
    if (1...Limits.keyBytes).contains(name.utf8.count) { return true }
    report(path, "\(kind) has 1 to \(Limits.keyBytes) bytes; \(name.isEmpty ? "this one is empty" : "this one has \(name.utf8.count)")")
    return false
  }

  func report(_ keys: [String], _ message: String) { report(ConfigurationPath(keys: keys), message) }

  func reportType(_ value: ConfigurationValue, at path: ConfigurationPath, expected: String) {
    report(path, "\(path): expected \(expected), found \(value.typeName)")
  }

  func reportUnknown(_ key: String, at path: ConfigurationPath, known: [String]) {
    let hint =
      NearestName.nearest(to: key, among: known).map { "did you mean \"\($0)\"?" } ?? "known here: \(known.joined(separator: ", "))"
    report(path, "unknown key \"\(key)\" (\(hint))")
  }

  func has(_ keys: String...) -> Bool {
    var value = ConfigurationValue.table(root)
    for key in keys {
      guard case .table(let table) = value, let next = table[key] else { return false }
      value = next
    }
    return true
  }

  /// Whether an element of a list of tables has a key.
  func hasElement(_ list: String, _ index: Int, _ key: String) -> Bool {
    guard case .array(let elements) = root[list], elements.indices.contains(index), case .table(let table) = elements[index] else {
      return false
    }
    return table[key] != nil
  }

  /// Whether no problem was found there, so that its value or its absence is intended.
  func isSound(_ keys: String...) -> Bool { isSound(ConfigurationPath(keys: keys)) }

  func isSound(_ path: ConfigurationPath) -> Bool { !unsound.contains(path) }
}
