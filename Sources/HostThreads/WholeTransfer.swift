import Glibc

/// Reads and writes completely, in as many calls as necessary, even if signals interrupt them.
public enum WholeTransfer {
  /// Writes all of `bytes`.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(ErrorNumber) {
    try bytes.withUnsafeBufferPointer { bytes throws(ErrorNumber) in try write(UnsafeRawBufferPointer(bytes), to: descriptor) }
  }

  /// Writes all of `bytes`.
  public static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(ErrorNumber) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if count == 0 {
        throw ErrorNumber(EIO)
      } else if errno != EINTR {
        throw .last
      }
    }
  }

  /// Reads at most the first `limit` bytes of a file.
  ///
  /// - Parameter flags: Flags for `open`, in addition to those for reading.
  public static func read(_ path: String, atMost limit: Int, _ flags: Int32 = 0) throws(ErrorNumber) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    return try read(from: descriptor, atMost: limit)
  }

  /// Reads at most the next `limit` bytes of a descriptor, up to its end.
  public static func read(from descriptor: Int32, atMost limit: Int) throws(ErrorNumber) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit, 65_536))
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &part, min(part.count, limit - bytes.count))
      if count == 0 { break }
      if count > 0 {
        bytes += part[..<count]
      } else if errno != EINTR {
        throw .last
      }
    }
    return bytes
  }
}
