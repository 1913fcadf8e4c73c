import Glibc

/// The names in a directory.
enum DirectoryNames {
  /// Why a directory was not listed.
  struct Failure: Error {
    /// The system's error number.
    let number: Int32
  }

  /// Every name except `.` and `..`, in no order, as bytes because a name need not be UTF-8.
  ///
  /// - Parameters:
  ///   - descriptor: The directory, borrowed; its position does not change.
  ///   - isWanted: Which names are kept.
  static func list(in descriptor: Int32, where isWanted: ([UInt8]) throws -> Bool = { _ in true }) throws -> [[UInt8]] {
    // A separate descriptor, because closedir closes it and reading moves its position.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw Failure(number: errno) }
    guard let stream = fdopendir(copy) else {
      let number = errno
      close(copy)
      throw Failure(number: number)
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw Failure(number: errno) }
        return names
      }
      let name = Self.name(of: entry)
      if name != [0x2e], name != [0x2e, 0x2e], try isWanted(name) { names.append(name) }
    }
  }

  /// The name in a directory entry: the bytes up to the first zero, which every entry has.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    let start = UnsafeRawPointer(entry) + offset
    return Array(UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self))))
  }
}
