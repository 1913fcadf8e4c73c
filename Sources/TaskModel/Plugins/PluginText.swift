/// Prepares text from a plugin for logs, records and terminals: escapes control characters and limits the length.
///
/// Only this code escapes and cuts such text. Code that receives text from the C interface, a process's output or a link calls it once;
/// calling it again changes nothing.
public enum PluginText {
  /// One line with control characters escaped. A result longer than `limit` bytes is cut between characters and marked.
  public static func line(_ text: String, limit: Int = Limits.logMessageBytes) -> String {
    cut(text.escapingControlCharacters, limit)
  }

  /// Several lines, such as a stack, with control characters escaped. The whole text is cut and marked if it is too long.
  public static func lines(_ text: String, limit: Int) -> String {
    guard text.utf8.contains(UInt8(ascii: "\n")) else { return line(text, limit: limit) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).escapingControlCharacters }
    return cut(lines.joined(separator: "\n"), limit)
  }

  /// The maximum number of bytes of a text after cutting to `limit`, including the mark.
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
  /// The longest prefix of at most `limit` bytes of UTF-8 that ends between characters.
  public func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
