import Glibc

/// A kernel event of a watched file or directory (inotify(7)).
struct FileEvent: Sendable, Hashable {
  /// The watch; -1 for an event about all watches.
  let watch: Int32
  /// Bits `IN_…`.
  let mask: UInt32
  /// The entry of the directory; nil for the object itself.
  let name: String?

  func has(_ bits: UInt32) -> Bool { mask & bits != 0 }

  /// Whether earlier events were lost.
  var isOverflow: Bool { has(UInt32(IN_Q_OVERFLOW)) }
  /// Whether the watch ended with its object or its file system.
  var isEnd: Bool { has(UInt32(IN_IGNORED)) }

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
