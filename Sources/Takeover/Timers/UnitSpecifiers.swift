/// Replaces what begins with `%` in a unit (systemd.unit(5), "Specifiers").
struct UnitSpecifiers {
  /// `backup@home.service`.
  let unit: String

  /// - Throws: A specifier that only a running systemd knows.
  func expand(_ text: String) throws(ExecLine.Problem) -> String {
    guard text.contains("%") else { return text }
    var expanded = ""
    var rest = text[...]
    while let character = rest.first {
      rest = rest.dropFirst()
      guard character == "%" else {
        expanded.append(character)
        continue
      }
      guard let letter = rest.first else { throw ExecLine.Problem(text: "it ends with %") }
      rest = rest.dropFirst()
      guard let value = value(of: letter) else {
        throw ExecLine.Problem(text: "%\(letter) is known to a running systemd alone: write its value")
      }
      expanded += value
    }
    return expanded
  }

  private func value(of letter: Character) -> String? {
    let stem = unit.lastIndex(of: ".").map { String(unit[..<$0]) } ?? unit
    let at = stem.firstIndex(of: "@")
    let prefix = at.map { String(stem[..<$0]) } ?? stem
    let instance = at.map { String(stem[stem.index(after: $0)...]) } ?? ""
    return switch letter {
    case "%": "%"
    case "n": unit
    case "N": stem
    case "p": prefix
    case "P": Self.unescaped(prefix)
    case "i": instance
    case "I": Self.unescaped(instance)
    case "j": prefix.split(separator: "-").last.map(String.init) ?? prefix
    case "t": "/run"
    case "S": "/var/lib"
    case "C": "/var/cache"
    case "L": "/var/log"
    case "E": "/etc"
    case "T": "/tmp"
    case "V": "/var/tmp"
    case "h": "/root"
    case "u": "root"
    case "U": "0"
    default: nil
    }
  }

  /// `srv-data` as `srv/data`, and `\x2d` as `-`.
  private static func unescaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      rest = rest.dropFirst()
      if byte == UInt8(ascii: "\\"), rest.count >= 3, rest.first == UInt8(ascii: "x"),
        let value = UInt8(Bytes.shown(rest.dropFirst().prefix(2)), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte == UInt8(ascii: "-") ? UInt8(ascii: "/") : byte)
      }
    }
    return Bytes.shown(bytes)
  }
}
