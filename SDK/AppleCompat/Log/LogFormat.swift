/// Formats as in C, with Apple's marks for privacy.
enum LogFormat {
  /// The text with its values.
  static func text(_ format: String, _ arguments: [Any?]) -> String {
    var result = ""
    var rest = format[...]
    var values = arguments[...]
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[rest.index(after: percent)...]
      if rest.first == "%" {
        result.append("%")
        rest = rest.dropFirst()
        continue
      }
      guard let conversion = Conversion(&rest) else {
        result.append("%")
        continue
      }
      guard let value = values.popFirst() else {
        result += conversion.source
        continue
      }
      result += conversion.privacy.redact(conversion.text(of: value), isScalar: conversion.isScalar)
    }
    return result + rest
  }

  private struct Conversion {
    var privacy = OSLogPrivacy.auto
    let source: String
    private let type: Character
    private let precision: Int?

    var isScalar: Bool { !"@sp".contains(type) }

    /// Reads what follows a percent sign; nil, and nothing is read, if that is not a conversion.
    init?(_ text: inout Substring) {
      var rest = text
      if rest.first == "{", let end = rest.firstIndex(of: "}") {
        let marks = rest[rest.index(after: rest.startIndex)..<end].split(separator: ",").map { $0.filter { $0 != " " } }
        if marks.contains("public") { privacy = .public }
        if marks.contains("private") || marks.contains("sensitive") { privacy = .private }
        if marks.contains("mask.hash") { privacy = marks.contains("public") ? .public : .private(mask: .hash) }
        rest = rest[rest.index(after: end)...]
      }
      let options = rest.prefix { "-+ #0123456789.".contains($0) }
      rest = rest.dropFirst(options.count)
      precision = options.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first.flatMap { Int($0) }
      rest = rest.drop { "hlqLzjt".contains($0) }
      guard let type = rest.first, "@sdDiuUxXofFeEgGcpaA".contains(type) else { return nil }
      self.type = type
      rest = rest.dropFirst()
      source = "%" + text[..<rest.startIndex]
      text = rest
    }

    func text(of value: Any?) -> String {
      guard let value else { return "(null)" }
      switch type {
      case "x", "X":
        guard let number = value as? any FixedWidthInteger else { break }
        return OSLogIntegerFormatting.hex(uppercase: type == "X").text(of: number)
      case "o":
        guard let number = value as? any FixedWidthInteger else { break }
        return OSLogIntegerFormatting.octal.text(of: number)
      case "f", "F", "e", "E", "g", "G":
        guard let number = (value as? Double) ?? (value as? Float).map(Double.init) else { break }
        let precision = precision ?? 6
        return switch type {
        case "f", "F": OSLogFloatFormatting.fixed(precision: precision).text(of: number)
        case "e", "E": OSLogFloatFormatting.exponential(precision: precision).text(of: number)
        default: OSLogFloatFormatting.hybrid(precision: precision).text(of: number)
        }
      default: break
      }
      return String(describing: value)
    }
  }
}
