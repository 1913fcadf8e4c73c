import Glibc

/// Short files.
enum SmallText {
  /// Why a file cannot be read.
  struct Unreadable: Error {
    /// `errno`; `EFBIG` if the file is larger than the limit.
    let code: Int32

    var words: String { String(cString: strerror(code)) }
  }

  /// The bytes of a file. A symbolic link is refused.
  static func read(_ path: String, limit: Int) throws(Unreadable) -> [UInt8] {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Unreadable(code: errno) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var size = 0
    while size < bytes.count {
      let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + size }, $0.count - size) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Unreadable(code: errno) }
      if count == 0 { return Array(bytes.prefix(size)) }
      size += count
    }
    throw Unreadable(code: EFBIG)
  }
}
