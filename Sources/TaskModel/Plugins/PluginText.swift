/// A plugin's words on their way into logs, records and terminals: without control characters, and no longer than they may be.
///
/// This is the one place that escapes and cuts them. Whoever takes words in, from the C interface, an output or a link, calls it once;
/// called again, it changes nothing.
public enum PluginText {
  /// One line: bad characters escaped, and what is then longer than `limit` bytes cut at a whole character and marked.
  public static func line(_ text: String, limit: Int = Limits.logMessageBytes) -> String {
    cut(text.escapingControlCharacters, limit)
  }

  /// Several lines, as of a stack: each escaped, and all of them together cut and marked.
  public static func lines(_ text: String, limit: Int) -> String {
    guard text.utf8.contains(UInt8(ascii: "\n")) else { return line(text, limit: limit) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).escapingControlCharacters }
    return cut(lines.joined(separator: "\n"), limit)
  }

  /// The bytes of the longest text that `limit` leaves: what is cut has its mark besides.
  public static func longest(_ limit: Int) -> Int { limit + mark(limit).utf8.count }

  private static func cut(_ text: String, _ limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    let mark = mark(limit)
    if text.utf8.count <= limit + mark.utf8.count, text.hasSuffix(mark) { return text }
    return text.cut(toBytes: limit) + mark
  }

  private static func mark(_ limit: Int) -> String { " … (cut at \(limit) bytes)" }
}

extension String {
  /// The longest beginning that has at most `limit` bytes of UTF-8 and ends with a whole character of Unicode.
  public func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
