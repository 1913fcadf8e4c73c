import Glibc
import HostThreads

/// Small files of the kernel.
enum TextFile {
  /// Bytes; no file that is read here has a tenth of it.
  private static let limit = 65_536

  /// The whole text of the file, without white space at its ends; nil if it cannot be read.
  static func read(_ path: String) -> String? {
    (try? WholeTransfer.read(path, atMost: limit, O_NONBLOCK)).map { trimmed(String(decoding: $0, as: UTF8.self)) }
  }

  /// What the kernel says of `errno`.
  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

  private static func trimmed(_ text: String) -> String {
    var rest = Substring(text)
    while rest.last?.isWhitespace == true { rest.removeLast() }
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    return String(rest)
  }
}
