/// A file of a unit, as systemd reads it: sections of `KEY=VALUE`, comments, and lines that are continued with `\`.
public struct UnitText: Sendable {
  /// One assignment, or a line that is none.
  struct Entry {
    let file: String
    /// The lines that it takes, from 1.
    let lines: ClosedRange<Int>
    /// As it is written, without the lines that continue it.
    let text: String
    let content: Content

    /// What becomes of the line: nothing, unless `read` says so of an assignment.
    func result(
      _ read: (_ section: String, _ key: String, _ value: String) -> (LineFinding.Result, notes: [String])
    ) -> (LineFinding.Result, notes: [String]) {
      switch content {
      case .blank: (.nothing("blank line"), [])
      case .comment: (.nothing("comment"), [])
      case .section(let name): (.nothing("the section \(name)"), [])
      case .bad(let why): (.nothing(why), [])
      case .assignment(let section, let key, let value): read(section, key, value)
      }
    }
  }

  enum Content: Equatable {
    case blank
    case comment
    case section(String)
    case assignment(section: String, key: String, value: String)
    case bad(String)
  }

  let entries: [Entry]

  /// Reads a file.
  public init(_ bytes: [UInt8], file: String) {
    var entries: [Entry] = []
    var section = ""
    let lines = Bytes.lines(of: bytes).lines
    var index = 0
    while index < lines.count {
      let first = index
      var whole = Self.trimmed(lines[index])
      let isComment = whole.first == UInt8(ascii: "#") || whole.first == UInt8(ascii: ";")
      while !isComment, whole.last == UInt8(ascii: "\\"), index + 1 < lines.count {
        whole.removeLast()
        index += 1
        let next = Self.trimmed(lines[index])
        // A comment between continued lines is left out.
        if next.first == UInt8(ascii: "#") || next.first == UInt8(ascii: ";") {
          whole.append(UInt8(ascii: "\\"))
        } else {
          whole += [0x20] + next
        }
      }
      let content = isComment ? .comment : Self.content(whole, &section)
      entries.append(Entry(file: file, lines: (first + 1)...(index + 1), text: Bytes.shown(lines[first]), content: content))
      index += 1
    }
    self.entries = entries
  }

  private static func content(_ line: [UInt8], _ section: inout String) -> Content {
    guard let first = line.first else { return .blank }
    guard let text = Bytes.text(line) else { return .bad("it is not UTF-8 text: systemd ignores it") }
    if first == UInt8(ascii: "[") {
      guard text.hasSuffix("]") else { return .bad("a section ends with ]") }
      section = String(text.dropFirst().dropLast())
      return .section(section)
    }
    guard let sign = text.firstIndex(of: "=") else { return .bad("it is neither a section nor KEY=VALUE: systemd ignores it") }
    let key = Bytes.shown(trimmed(Array(text[..<sign].utf8)[...]))
    let value = Bytes.shown(trimmed(Array(text[text.index(after: sign)...].utf8)[...]))
    return .assignment(section: section, key: key, value: value)
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var bytes = bytes.drop(while: Bytes.isSpace)
    while let last = bytes.last, Bytes.isSpace(last) { bytes.removeLast() }
    return Array(bytes)
  }
}
