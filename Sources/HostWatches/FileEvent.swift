import Glibc

/// An event of a watched file or directory, as the kernel tells it (inotify(7)).
struct FileEvent: Sendable, Hashable {
  /// The watch; -1 for what is about all of them.
  let watch: Int32
  /// Bits `IN_…`.
  let mask: UInt32
  /// Which entry of the directory; nil means it itself.
  let name: String?

  func has(_ bits: UInt32) -> Bool { mask & bits != 0 }

  /// Whether events were lost before it.
  var isOverflow: Bool { has(UInt32(IN_Q_OVERFLOW)) }
  /// Whether the watch is gone: its object is, or its file system.
  var isEnd: Bool { has(UInt32(IN_IGNORED)) }

  /// Whatever a read of the queue gave.
  static func all(in bytes: UnsafeRawBufferPointer) -> [FileEvent] {
    var events: [FileEvent] = []
    var position = 0
    let header = MemoryLayout<Int32>.size * 4
    while position + header <= bytes.count {
      let length = Int(bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self))
      guard length <= bytes.count - position - header else { break }
      let name = bytes[(position + header)..<(position + header + length)].prefix { $0 != 0 }
      events.append(
        FileEvent(
          watch: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self),
          mask: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self),
          name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
      position += header + length
    }
    return events
  }
}
