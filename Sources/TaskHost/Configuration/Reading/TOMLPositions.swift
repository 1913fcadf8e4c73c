/// The position of each key of a TOML text.
///
/// The parser reports the place of a syntax error but not of a key, so this scanner finds strings, comments, keys, tables and lists. It is
/// correct for well-formed text, and otherwise up to the first error. Nesting deeper than ``maximumDepth`` is an error, so that no text
/// exhausts the stack here or in the parser.
struct TOMLPositions {
  struct Position: Equatable {
    /// From 1.
    var line: Int
    /// From 1, in Unicode scalars, as the parser counts.
    var column: Int
  }

  /// Parts of a path: tables, keys and lists inside each other.
  static let maximumDepth = 32

  /// The first mention of keys, the first character of list elements.
  private(set) var positions: [ConfigurationPath: Position] = [:]

  /// Escaped zero characters in strings: the parser would cut the strings there.
  private(set) var zeroEscapes: [Position] = []

  /// A syntax error that must not reach the parser.
  struct Fatal {
    let position: Position
    let message: String
    /// Line of the key or header with the error; the text before this line can be parsed.
    let statementLine: Int
  }

  /// The first error on which the parser may end the process instead of reporting it: toml++ asserts on table headers without a name, on
  /// elements of lists and on malformed dates, and the package builds those assertions in. The scan ends there.
  private(set) var fatal: Fatal?

  private var statementLine = 1
  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var here = Position(line: 1, column: 1)
  /// The number of tables in each list of tables so far.
  private var tableCounts: [ConfigurationPath: Int] = [:]

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
    if scalars.first == "\u{feff}" { index = 1 }
    var table = ConfigurationPath()
    while skipBlank(newlines: true), fatal == nil {
      let before = index
      statementLine = here.line
      if peek == "[" { table = header() } else { keyAndValue(in: table) }
      if index == before { advance() }
    }
  }

  /// The position of `path`, or of its nearest ancestor that has one.
  func position(of path: ConfigurationPath) -> Position {
    var current: ConfigurationPath? = path
    while let path = current {
      if let position = positions[path] { return position }
      current = path.parent
    }
    return Position(line: 1, column: 1)
  }

  /// The key, or the element of a list, that was begun last before a place of the text.
  func path(before line: Int, _ column: Int) -> ConfigurationPath? {
    positions.filter { ($0.value.line, $0.value.column) <= (line, column) }
      .max { ($0.value.line, $0.value.column, $0.key.components.count) < ($1.value.line, $1.value.column, $1.key.components.count) }?.key
  }

  // MARK: Structure

  /// `[a.b]` or `[[a.b]]`. Returns the table of the following keys.
  private mutating func header() -> ConfigurationPath {
    let start = here
    advance()
    let isList = peek == "["
    if isList { advance() }
    var path = ConfigurationPath()
    let keys = dottedKey()
    if keys.isEmpty { fail(at: start, "a table needs a name between the brackets, of letters, digits, _ and -, or in quotes") }
    for (number, key) in keys.enumerated() where fatal == nil {
      path = path.appending(key.name)
      record(path, key.position)
      if isList, number == keys.count - 1 {
        let count = tableCounts[path, default: 0]
        tableCounts[path] = count + 1
        path = path.appending(count)
        record(path, key.position)
      } else if let count = tableCounts[path] {
        path = path.appending(count - 1)
      }
    }
    while peek == "]" { advance() }
    return path
  }

  private mutating func keyAndValue(in table: ConfigurationPath) {
    var path = table
    for key in dottedKey() where fatal == nil {
      path = path.appending(key.name)
      record(path, key.position)
    }
    guard peek == "=" else { return }
    advance()
    _ = skipBlank(newlines: false)
    value(at: path)
  }

  /// Also skips the blanks after the key.
  private mutating func dottedKey() -> [(name: String, position: Position)] {
    var keys: [(String, Position)] = []
    while skipBlank(newlines: false) {
      let start = here
      if peek == "\"" || peek == "'" {
        keys.append((string(), start))
      } else {
        let name = take { $0 == "_" || $0 == "-" || ("0"..."9").contains($0) || ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
        if name.isEmpty { break }
        keys.append((name, start))
      }
      guard skipBlank(newlines: false), peek == "." else { break }
      advance()
    }
    return keys
  }

  private mutating func value(at path: ConfigurationPath) {
    guard fatal == nil else { return }
    switch peek {
    case "\"", "'": _ = string()
    case "[":
      advance()
      var count = 0
      while skipBlank(newlines: true), peek != "]", fatal == nil {
        let before = index
        let element = path.appending(count)
        record(element, here)
        value(at: element)
        count += 1
        if skipBlank(newlines: true), peek == "," { advance() }
        if index == before { advance() }
      }
      advance()
    case "{":
      advance()
      while skipBlank(newlines: true), peek != "}", fatal == nil {
        let before = index
        keyAndValue(in: path)
        if skipBlank(newlines: true), peek == "," { advance() }
        if index == before { advance() }
      }
      advance()
    default:
      let start = here
      var text = take { !",]}#\n\r".unicodeScalars.contains($0) }
      while text.last == " " || text.last == "\t" { text.removeLast() }
      if text.isEmpty {
        fail(at: start, "a value is missing here")
      } else if !BareValue.isWellFormed(text) {
        // It may be a secret.
        fail(at: start, "this is not a value; strings stand in quotes")
      }
    }
  }

  private mutating func fail(at position: Position, _ message: String) {
    if fatal == nil { fatal = Fatal(position: position, message: message, statementLine: statementLine) }
  }

  // MARK: Characters

  /// A string of any of the four kinds, without its quotes. Resolves only the escapes that keys need.
  private mutating func string() -> String {
    guard let quote = peek else { return "" }
    let isLong = scalars.dropFirst(index).prefix(3).elementsEqual([quote, quote, quote])
    let width = isLong ? 3 : 1
    for _ in 0..<width { advance() }
    var text = String.UnicodeScalarView()
    while let scalar = peek {
      if scalar == quote, scalars.dropFirst(index).prefix(width).elementsEqual(repeatElement(quote, count: width)) {
        for _ in 0..<width { advance() }
        // A long string may end with up to two quotes that belong to it.
        while isLong, peek == quote { advance() }
        break
      }
      if scalar == "\\", quote == "\"" {
        if let escaped = escape() { text.append(escaped) }
      } else {
        text.append(scalar)
        advance()
      }
    }
    return String(text)
  }

  private mutating func escape() -> Unicode.Scalar? {
    let start = here
    advance()
    guard let kind = peek else { return nil }
    advance()
    switch kind {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "b": return "\u{8}"
    case "f": return "\u{c}"
    case "e": return "\u{1b}"
    case "x", "u", "U":
      var digits = ""
      for _ in 0..<(kind == "x" ? 2 : kind == "u" ? 4 : 8) {
        guard let digit = peek else { break }
        digits.unicodeScalars.append(digit)
        advance()
      }
      let number = UInt32(digits, radix: 16)
      if number == 0 { zeroEscapes.append(start) }
      return number.flatMap(Unicode.Scalar.init)
    default: return kind
    }
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func advance() {
    guard let scalar = peek else { return }
    index += 1
    if scalar == "\n" { here = Position(line: here.line + 1, column: 1) } else { here.column += 1 }
  }

  private mutating func take(while accepts: (Unicode.Scalar) -> Bool) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = peek, accepts(scalar) {
      text.append(scalar)
      advance()
    }
    return String(text)
  }

  /// Skips blanks, and with `newlines` also line ends and comments. Returns false at the end of the text.
  private mutating func skipBlank(newlines: Bool) -> Bool {
    while let scalar = peek {
      if scalar == " " || scalar == "\t" || (newlines && (scalar == "\n" || scalar == "\r")) {
        advance()
      } else if newlines, scalar == "#" {
        _ = take { $0 != "\n" }
      } else {
        return true
      }
    }
    return false
  }

  private mutating func record(_ path: ConfigurationPath, _ position: Position) {
    if path.components.count > Self.maximumDepth {
      return fail(at: position, "this is more than \(Self.maximumDepth) tables, keys and lists deep: nest less")
    }
    if positions[path] == nil { positions[path] = position }
  }
}
