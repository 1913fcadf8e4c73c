import Glibc
import HostThreads

/// Computes the SHA-256 of a file while reading and optionally copying it.
enum FileDigest {
  private static let chunk = 256 << 10

  /// The digest of the file, whose size must not have changed.
  ///
  /// - Parameter copy: A borrowed descriptor to write the bytes to; nil computes only the digest.
  /// - Throws: ``Rejection/changed`` if the file's size has changed, otherwise errors of reading and writing.
  static func sha256(of file: BoundedFile, copyingTo copy: Int32? = nil) throws(Rejection) -> [UInt8] {
    var hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, Int(min(UInt64(chunk), file.size + 1))), alignment: 64)
    defer { buffer.deallocate() }
    var offset: UInt64 = 0
    while true {
      let got = pread(file.descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if got < 0 {
        guard errno == EINTR else { throw .unreadable(errno) }
        continue
      }
      guard got > 0 else { break }
      offset += UInt64(got)
      guard offset <= file.size else { throw .changed }
      let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<got])
      hasher.update(bytes)
      guard let copy else { continue }
      do throws(ErrorNumber) { try WholeTransfer.write(bytes, to: copy) } catch { throw .copyFailed(error.code) }
    }
    guard offset == file.size else { throw .changed }
    return hasher.finish()
  }
}
