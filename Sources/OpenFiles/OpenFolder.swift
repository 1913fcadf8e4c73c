import COpenFiles
import Glibc
import TaskModel

/// Finds files by their paths from a directory. Keeps the last folder open, because callers ask folder by folder.
final class OpenFolder {
  /// Borrowed.
  private let top: Int32
  /// The path of the open folder with a final slash; empty for `top`.
  private var prefix: ArraySlice<UInt8> = []
  /// Owned, unless it is `top`; negative if the folder cannot be opened.
  private var descriptor: Int32

  /// - Parameter top: Owned by the caller; must outlive this object.
  init(below top: Int32) {
    self.top = top
    descriptor = top
  }

  deinit { if descriptor >= 0, descriptor != top { close(descriptor) } }

  /// Lends the folder that holds the file at `path`, and the file's name in it.
  ///
  /// - Returns: The result of `body`; nil if the folder cannot be reached without a symlink or mount point.
  func withEntry(_ path: [UInt8], _ body: (Int32, UnsafePointer<CChar>) -> FileUse) -> FileUse? {
    // A path that ends with a slash has no name to look up.
    let start = path.last == UInt8(ascii: "/") ? 0 : (path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)
    enter(path[..<start])
    guard descriptor >= 0 else { return nil }
    return Self.withCString(path[start...], otherwise: nil) { body(descriptor, $0) }
  }

  private func enter(_ folder: ArraySlice<UInt8>) {
    guard folder != prefix else { return }
    if descriptor >= 0, descriptor != top { close(descriptor) }
    prefix = folder
    descriptor = folder.isEmpty ? top : Self.withCString(folder, otherwise: -1) { taskhost_open_files_folder(top, $0) }
  }

  private static func withCString<Value>(
    _ bytes: ArraySlice<UInt8>, otherwise none: Value, _ body: (UnsafePointer<CChar>) -> Value
  ) -> Value {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      buffer[bytes.count] = 0
      return buffer.baseAddress.map { body(UnsafePointer($0)) } ?? none
    }
  }
}
