import Glibc

/// A file to read with `pread`. It is never mapped, because others can truncate or overwrite it at any time.
///
/// The descriptor is borrowed; its opener closes it after the last read.
struct BoundedFile: Sendable {
  let descriptor: Int32
  /// The size in bytes when the file was opened.
  let size: UInt64

  /// Reads exactly `count` bytes at `offset`.
  ///
  /// - Parameter what: The subject of an error message, such as "its dynamic section".
  func read(_ what: String, at offset: UInt64, count: Int) throws(Rejection) -> FileBytes {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
    guard !overflow, offset <= UInt64(Int64.max) else { throw .offsetOverflow(what) }
    guard end <= size else { throw .truncated(what, needs: end, size: size) }
    guard count > 0 else { return FileBytes(bytes: []) }
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset) + off_t(filled))
        if got > 0 {
          filled += got
        } else if got == 0 {
          return
        } else if errno != EINTR {
          failure = errno
          return
        }
      }
    }
    if failure != 0 { throw .unreadable(failure) }
    guard bytes.count == count else { throw .changed }
    return FileBytes(bytes: bytes)
  }
}

/// Bytes read from a file, with accessors for little-endian numbers.
///
/// Bytes beyond the end read as zero, so a damaged file cannot trap the host. Readers request exactly the bytes that they decode. They get
/// all of them or a ``Rejection``.
struct FileBytes: Sendable {
  let bytes: [UInt8]

  func number<Number: FixedWidthInteger & UnsignedInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
    var value: Number = 0
    for index in 0..<MemoryLayout<Number>.size where bytes.indices.contains(offset + index) {
      value |= Number(bytes[offset + index]) << (8 * index)
    }
    return value
  }
}
