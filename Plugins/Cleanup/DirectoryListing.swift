internal import Glibc

/// A directory that is being listed, open until the last reference to it goes.
final class DirectoryListing: OpenDirectory {
  private let stream: OpaquePointer
  /// The directory's status when it was opened.
  let status: FileStatus

  private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19

  /// Takes ownership of a descriptor that was opened to list a directory.
  init(_ descriptor: consuming Descriptor) throws(SystemError) {
    status = try FileStatus(descriptor: descriptor.raw)
    let copy = fcntl(descriptor.raw, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .last }
    guard let stream = fdopendir(copy) else {
      let error = SystemError.last
      close(copy)
      throw error
    }
    self.stream = stream
  }

  deinit { closedir(stream) }

  var raw: Int32 { dirfd(stream) }

  /// One entry. Its name ends with a null byte and is borrowed until the next entry is read.
  struct Entry {
    var name: UnsafePointer<CChar>
    var length: Int
    /// As in `d_type`.
    var type: Int32

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: name, count: length) }
  }

  /// The next entry except `.` and `..`; nil at the end.
  func next() throws(SystemError) -> Entry? {
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .last }
        return nil
      }
      let name = UnsafeRawPointer(entry).advanced(by: Self.nameOffset).assumingMemoryBound(to: CChar.self)
      let length = strlen(name)
      if name[0] == 0x2E, length == 1 || (length == 2 && name[1] == 0x2E) { continue }
      return Entry(name: name, length: length, type: Int32(entry.pointee.d_type))
    }
  }
}
