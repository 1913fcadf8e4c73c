import Glibc
import HostThreads
import TaskModel

/// The lines of a file from its last one to its first, in blocks.
struct LinesFromEnd: ~Copyable {
  private static let blockBytes: Int64 = 65_536
  /// A longer line is none of the audit.
  private static let longestLine = 1 << 20

  private let descriptor: Int32
  /// Where what has been read begins.
  private var offset: Int64
  /// What has been read and not given out.
  private var rest: ArraySlice<UInt8> = []

  /// nil if there is no file.
  init?(_ path: String) throws(ErrorNumber) {
    descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      offset = 0
      guard errno == ENOENT else { throw .last }
      return nil
    }
    let end = lseek(descriptor, 0, SEEK_END)
    offset = Int64(max(0, end))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The line before the last one that was given out; nil at the file's beginning.
  mutating func next() throws(ErrorNumber) -> ArraySlice<UInt8>? {
    while true {
      if let newline = rest.lastIndex(of: UInt8(ascii: "\n")) {
        let line = rest[(newline + 1)...]
        rest = rest[..<newline]
        if !line.isEmpty { return line }
      } else if offset > 0 {
        try readBlock()
      } else {
        defer { rest = [] }
        return rest.isEmpty ? nil : rest
      }
    }
  }

  private mutating func readBlock() throws(ErrorNumber) {
    let count = min(offset, Self.blockBytes)
    guard lseek(descriptor, off_t(offset - count), SEEK_SET) >= 0 else { throw .last }
    let block = try WholeTransfer.read(from: descriptor, atMost: Int(count))
    offset -= count
    rest = (block + (rest.count > Self.longestLine ? [] : rest))[...]
  }
}
