/// A value of `ExecStart=` and its like (systemd.service(5), "Command lines").
struct ExecLine: Equatable {
  struct Problem: Error, Equatable {
    let text: String
  }

  /// The most bytes of an argument in a configuration of the host.
  private static let longestArgument = 100_000

  /// The program and its arguments, with variables as they are written.
  let words: [String]
  /// `-`: any exit code is a success.
  let ignoresFailure: Bool
  /// `+`, `!` or `!!`: it keeps privileges that the unit's user lacks.
  let isPrivileged: Bool
  /// Whether `$NAME` and `${NAME}` are replaced.
  let expands: Bool

  /// - Parameter specifiers: Replace what begins with `%`, in each word by itself as systemd does: a value is never split or unescaped.
  init(_ text: String, specifiers: UnitSpecifiers? = nil) throws(Problem) {
    var rest = text[...]
    var (ignoresFailure, isPrivileged, expands) = (false, false, true)
    prefixes: while let first = rest.first {
      switch first {
      case "-": ignoresFailure = true
      case "+", "!": isPrivileged = true
      case ":": expands = false
      case "@": throw Problem(text: "it gives the program another name (@)")
      default: break prefixes
      }
      rest = rest.dropFirst()
    }
    var words = try Self.words(String(rest))
    if let specifiers { words = try words.map { word throws(Problem) in try specifiers.expand(word) } }
    guard let program = words.first, !program.isEmpty else { throw Problem(text: "it names no program") }
    guard !words.contains(where: { $0.utf8.count > Self.longestArgument }) else {
      throw Problem(text: "an argument is longer than \(Self.longestArgument) bytes")
    }
    guard !words.contains(";") else { throw Problem(text: "it has several commands, separated by ;: write a line for each") }
    self.words = words
    self.ignoresFailure = ignoresFailure
    self.isPrivileged = isPrivileged
    self.expands = expands && words.dropFirst().contains { $0.contains("$") }
  }

  /// The words of a value: quotes hold blanks together, `\` begins an escape as in C.
  static func words(_ text: String) throws(Problem) -> [String] {
    var words: [String] = []
    var word: [UInt8]?
    var quote: UInt8?
    let bytes = Array(text.utf8)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\\") {
        guard index < bytes.count else { throw Problem(text: "it ends with \\") }
        word = word ?? []
        word?.append(contentsOf: try escape(bytes, &index))
      } else if let end = quote {
        if byte == end { quote = nil } else { word?.append(byte) }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'"), word == nil {
        quote = byte
        word = []
      } else if Bytes.isSpace(byte) {
        if let done = word { words.append(Bytes.shown(done)) }
        word = nil
      } else {
        word = word ?? []
        word?.append(byte)
      }
    }
    guard quote == nil else { throw Problem(text: "a quote has no end") }
    if let done = word { words.append(Bytes.shown(done)) }
    return words
  }

  private static func escape(_ bytes: [UInt8], _ index: inout Int) throws(Problem) -> [UInt8] {
    let byte = bytes[index]
    index += 1
    func digits(_ count: Int, _ radix: Int) throws(Problem) -> UInt8 {
      guard index + count <= bytes.count, let value = UInt8(Bytes.shown(bytes[index..<(index + count)]), radix: radix), value > 0 else {
        throw Problem(text: "it has an escape that is not understood")
      }
      index += count
      return value
    }
    switch byte {
    case UInt8(ascii: "a"): return [0x07]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0c]
    case UInt8(ascii: "n"): return [0x0a]
    case UInt8(ascii: "r"): return [0x0d]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "v"): return [0x0b]
    case UInt8(ascii: "s"): return [0x20]
    case UInt8(ascii: "x"): return [try digits(2, 16)]
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      index -= 1
      return [try digits(3, 8)]
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): return [byte]
    // systemd keeps an escape that it does not know.
    default: return [UInt8(ascii: "\\"), byte]
    }
  }

  /// The command as text for a shell, in which variables are replaced as systemd does: `${NAME}` as part of a word, `$NAME` as words.
  func shellText() throws(Problem) -> String {
    guard expands else { return words.map { CronCommandText.quoted($0) }.joined(separator: " ") }
    var texts: [String] = [CronCommandText.quoted(words[0])]
    for word in words.dropFirst() { texts.append(try Self.shellWord(word)) }
    return texts.joined(separator: " ")
  }

  private static func shellWord(_ word: String) throws(Problem) -> String {
    let bytes = Array(word.utf8)
    func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
      bytes.first.map { !Bytes.isDigit($0) } ?? false && bytes.allSatisfy { Bytes.isAlphanumeric($0) || $0 == 0x5f }
    }
    // A word that is $NAME alone becomes as many words as the value has.
    if bytes.first == UInt8(ascii: "$"), isName(bytes[1...]) { return word }
    var (parts, plain): ([String], [UInt8]) = ([], [])
    var index = 0
    func closePlain() {
      if !plain.isEmpty { parts.append(CronCommandText.quoted(Bytes.shown(plain))) }
      plain = []
    }
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "$"), index + 1 < bytes.count else {
        plain.append(bytes[index])
        index += 1
        continue
      }
      if bytes[index + 1] == UInt8(ascii: "$") {
        plain.append(bytes[index])
        index += 2
      } else if bytes[index + 1] == UInt8(ascii: "{"), let end = bytes[index...].firstIndex(of: UInt8(ascii: "}")) {
        guard isName(bytes[(index + 2)..<end]) else { throw Problem(text: "\"\(word)\" has a variable that is not understood") }
        closePlain()
        parts.append("\"\(Bytes.shown(bytes[index...end]))\"")
        index = end + 1
      } else {
        plain.append(bytes[index])
        index += 1
      }
    }
    closePlain()
    return parts.isEmpty ? "''" : parts.joined()
  }
}
