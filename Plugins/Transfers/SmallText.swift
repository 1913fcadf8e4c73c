import Glibc

/// Short files.
enum SmallText {
  /// Why a file cannot be read.
  struct Unreadable: Error {
    /// `errno`; `EFBIG` if the file is larger than the limit; ``notOrdinary``.
    let code: Int32
    /// In place of `errno`: a pipe, a device and the like.
    static let notOrdinary: Int32 = -1

    var words: String { code == Self.notOrdinary ? "Not an ordinary file" : String(cString: strerror(code)) }
  }

  /// The bytes of a file. A symbolic link is refused.
  static func read(_ path: String, limit: Int) throws(Unreadable) -> [UInt8] {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Unreadable(code: errno) }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0 else { throw Unreadable(code: errno) }
    switch info.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw Unreadable(code: EISDIR)
    default: throw Unreadable(code: Unreadable.notOrdinary)
    }
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
