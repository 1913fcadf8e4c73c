import Glibc
import HostThreads

/// Reads lines from a file or a pipe.
struct ArchiveLines {
  /// The longest line: far more than a request with a hundred outputs and a checkpoint needs.
  static let longest = 64 << 20

  private let descriptor: Int32
  private let name: String
  private var buffer: [UInt8] = []
  private var position = 0
  private var isAtEnd = false
  /// The number of lines so far.
  private(set) var count = 0

  /// - Parameter name: The name of the file for errors.
  init(_ descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  /// The next line without its end; nil at the end of the file.
  mutating func next() throws(StoreCareError) -> [UInt8]? {
    var searched = position
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(buffer[position..<end])
        position = end + 1
        count += 1
        return line
      }
      guard !isAtEnd else {
        let rest = Array(buffer[position...])
        position = buffer.count
        guard !rest.isEmpty else { return nil }
        count += 1
        return rest
      }
      buffer.removeFirst(position)
      position = 0
      searched = buffer.count
      guard buffer.count <= Self.longest else {
        throw StoreCareError(name, "line \(count + 1) has more than \(Self.longest) bytes, so this is no export of a store")
      }
      let part: [UInt8]
      do { part = try WholeTransfer.read(from: descriptor, atMost: 1 << 18) } catch { throw StoreCareError(name, "cannot be read", error) }
      if part.isEmpty { isAtEnd = true } else { buffer += part }
    }
  }
}
