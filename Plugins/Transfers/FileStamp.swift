import Glibc
import StrictText

/// What tells a file's content from an earlier one, as far as the file system does: its identity, size and last change.
struct FileStamp: Equatable, Sendable {
  /// Only for comparison.
  let text: String
  let size: Int64

  /// The file at a path, which is not a symbolic link; nil if there is none.
  init?(path: String) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return nil }
    self.init(info)
  }

  init?(descriptor: Int32) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return nil }
    self.init(info)
  }

  private init(_ info: stat) {
    size = Int64(info.st_size)
    // The headers of libcrypto define the time's structure too, so that not every build finds its members here.
    text = "\(info.st_dev)-\(info.st_ino)-\(info.st_size)-\(withUnsafeBytes(of: info.st_mtim) { Hex.text($0) })"
  }
}
