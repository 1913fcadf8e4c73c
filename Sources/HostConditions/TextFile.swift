import Glibc
import HostThreads

/// Small files of the kernel.
enum TextFile {
  /// Bytes; the files that are read here have less than a tenth of it.
  private static let limit = 65_536

  /// The whole text of the file, without white space at its ends; nil if it cannot be read.
  static func read(_ path: String) -> String? {
    guard let bytes = try? WholeTransfer.read(path, atMost: limit, O_NONBLOCK) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let first = text.firstIndex(where: { !$0.isWhitespace }), let last = text.lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(text[first...last])
  }

  /// The system's text for `errno`.
  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
