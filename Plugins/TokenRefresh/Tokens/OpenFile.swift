import Glibc

/// An open descriptor, closed with the last reference.
final class OpenFile: Sendable {
  let descriptor: Int32

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Opens a folder, so that names in it cannot be redirected elsewhere meanwhile. Follows symlinks on the way to the folder.
  static func folder(_ path: String) throws(SystemError) -> OpenFile {
    try make("open the folder \(path)") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  /// Opens a name in this folder. A symlink fails with `ELOOP`. Never blocks, whatever kind of file it is.
  func file(_ name: String, _ flags: Int32, mode: mode_t = 0o600) throws(SystemError) -> OpenFile {
    try Self.make("open \(name)") { openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode) }
  }

  /// Opens a path, following symlinks, to read it.
  static func reading(_ path: String) throws(SystemError) -> OpenFile {
    try make("open \(path)") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
  }

  func status() throws(SystemError) -> stat {
    var status = stat()
    try SystemError.check("get the file's status") { fstat(descriptor, &status) }
    return status
  }

  /// The file's whole content; nil if it has more than `limit` bytes.
  func contents(limit: Int) throws(SystemError) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
      let count = try SystemError.check("read the file") { read(descriptor, &buffer, buffer.count) }
      if count == 0 { return bytes }
      bytes += buffer[..<Int(count)]
    }
    return nil
  }

  func write(_ bytes: [UInt8]) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = try SystemError.check("write the file") {
        rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      }
      rest = rest.dropFirst(Int(count))
    }
  }

  /// Makes written data (in a folder: its names) survive a power cut.
  func synchronize() throws(SystemError) {
    try SystemError.check("write to the disk") { fsync(descriptor) }
  }

  private static func make(_ action: String, _ open: () -> Int32) throws(SystemError) -> OpenFile {
    OpenFile(try SystemError.check(action, open))
  }
}
