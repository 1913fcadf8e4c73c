import TaskModel

/// The names that events have: 1 to 256 bytes without control characters; `file:` and an absolute path stand for a file.
enum EventName {
  /// Longest path of Linux, without its final 0.
  private static let pathBytes = 4095

  /// What is wrong with a name; nil: nothing.
  static func flaw(of name: String) -> String? {
    guard !name.hasPrefix(EventTrigger.filePrefix) else { return flaw(ofPath: String(name.dropFirst(EventTrigger.filePrefix.count))) }
    guard (1...Limits.keyBytes).contains(name.utf8.count) else {
      return "an event's name has 1 to \(Limits.keyBytes) bytes, this has \(name.utf8.count)"
    }
    return hasControls(name) ? "an event's name has no control characters" : nil
  }

  /// What is wrong with the path of a file that is watched; nil: nothing.
  static func flaw(ofPath path: String) -> String? {
    let shown = String(path.prefix(80)).escapingControlCharacters
    guard path.hasPrefix("/") else { return "\"\(shown)\" is no absolute path: the host does not know where you are, begin with /" }
    guard path.utf8.count <= pathBytes, !path.utf8.contains(0) else { return "\"\(shown)\" is no path: it is too long or has a 0 in it" }
    return nil
  }

  private static func hasControls(_ text: String) -> Bool { text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}
