import Glibc

/// Lists the names in a directory, except `.` and `..`.
public enum DirectoryNames {
  /// The names in an open directory, unordered; as bytes, since a name need not be UTF-8.
  ///
  /// - Parameters:
  ///   - descriptor: The directory, which stays open. Its position does not change.
  ///   - limit: The maximum number of names.
  ///   - isWanted: Returns whether to list a name. Other names do not count towards the limit.
  public static func list(
    in descriptor: Int32, atMost limit: Int = .max, where isWanted: ([UInt8]) -> Bool = { _ in true }
  ) throws(ErrorNumber) -> [[UInt8]] {
    // A separate descriptor, because closedir closes it, and reading moves its position.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw .last }
    guard let stream = fdopendir(copy) else {
      let error = ErrorNumber.last
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    return try names(of: stream, atMost: limit, where: isWanted)
  }

  /// The names in the directory at a path, sorted. Invalid UTF-8 is replaced.
  public static func list(at path: String) throws(ErrorNumber) -> [String] {
    guard let stream = opendir(path) else { throw .last }
    defer { closedir(stream) }
    return try names(of: stream, atMost: .max) { _ in true }.map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  private static func names(
    of stream: OpaquePointer, atMost limit: Int, where isWanted: ([UInt8]) -> Bool
  ) throws(ErrorNumber) -> [[UInt8]] {
    var names: [[UInt8]] = []
    while names.count < limit {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw .last }
        return names
      }
      let name = Self.name(of: entry)
      if name != [0x2e], name != [0x2e, 0x2e], isWanted(name) { names.append(name) }
    }
    return names
  }

  /// The name in a directory entry: the bytes up to the first zero, which always lies within the entry.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    // Does not use `pointee`, which would copy all 256 bytes even of a short name.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    let start = UnsafeRawPointer(entry) + offset
    return Array(UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self))))
  }
}
