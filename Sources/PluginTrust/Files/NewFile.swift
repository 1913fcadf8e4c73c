import Glibc

/// Writes files completely or not at all.
enum NewFile {
  /// Creates a new file.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(SigningFileError) {
    try create(path, bytes, mode) { number in
      number == EEXIST
        ? SigningFileError(path, "already exists", "Choose another name, or remove the file if it is no longer needed.")
        : SigningFileError(path, "cannot be written: \(String(cString: strerror(number)))", "Check the directory and the disk.")
    }
  }

  /// Creates or replaces a file atomically.
  static func replace(_ bytes: [UInt8], at path: String, mode: mode_t) throws(SigningFileError) {
    let temporary = "\(path).\(Hex.text((0..<8).map { _ in UInt8.random(in: 0...255) }))"
    func failure(_ number: Int32) -> SigningFileError {
      SigningFileError(path, "cannot be written: \(String(cString: strerror(number)))", "Check the directory and the disk.")
    }
    try create(temporary, bytes, mode, failure)
    guard rename(temporary, path) == 0 else {
      let number = errno
      unlink(temporary)
      throw failure(number)
    }
  }

  private static func create(
    _ path: String, _ bytes: [UInt8], _ mode: mode_t, _ failure: (Int32) -> SigningFileError
  ) throws(SigningFileError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        let number = errno
        unlink(path)
        throw failure(number)
      }
    }
    guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else {
      let number = errno
      unlink(path)
      throw failure(number)
    }
  }
}
