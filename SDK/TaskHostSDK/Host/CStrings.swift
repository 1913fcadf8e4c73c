import CTaskHost

package enum CStrings {
  /// Returns `text`.
  ///
  /// - Throws: `TASKHOST_EINVAL` if it has a NUL byte, at which C would cut it to a different key or identifier.
  static func checked(_ text: String, _ what: String) throws(TaskHostError) -> String {
    guard text.utf8.contains(0) else { return text }
    throw TaskHostError(status: taskhost_status(TASKHOST_EINVAL), message: "\(what) holds a NUL byte; remove it")
  }

  /// `text` for people: a NUL byte, at which C would cut it, becomes U+2400 (the symbol for NUL).
  package static func printable(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{2400}" : $0 }))
  }

  /// Calls `body` with `text` as a C string, NULL for `nil`. The pointer is valid during the call.
  static func with<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) throws -> Result) rethrows -> Result {
    guard let text else { return try body(nil) }
    return try text.withCString { try body($0) }
  }
}
