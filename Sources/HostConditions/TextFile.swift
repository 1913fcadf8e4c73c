import Glibc
import HostThreads

enum TextFile {
  /// The kernel's files here have less than a tenth of this.
  private static let limit = 65_536

  /// The file's text without surrounding white space; nil if it cannot be read.
  static func read(_ path: String) -> String? {
    guard let bytes = try? WholeTransfer.read(path, atMost: limit, O_NONBLOCK) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let first = text.firstIndex(where: { !$0.isWhitespace }), let last = text.lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(text[first...last])
  }

  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
