import Glibc

/// Reads and writes that are complete: in as many calls as it takes, and whatever signals come.
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

  /// What a file holds: the first `limit` bytes of it at most.
  ///
  /// - Parameter flags: For `open`, besides those to read it.
  public static func read(_ path: String, atMost limit: Int, _ flags: Int32 = 0) throws(ErrorNumber) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    return try read(from: descriptor, atMost: limit)
  }

  /// What is still to be read, to its end: the first `limit` bytes of it at most.
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
