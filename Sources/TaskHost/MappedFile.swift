import Glibc

/// A memory-mapped file of the state directory. Without a sync, its content survives the death of the process, but perhaps not a power cut.
struct MappedFile {
  /// Never unmapped. A new file contains only zeros.
  let memory: UnsafeMutableRawPointer

  /// Opens or creates the file and sets its size.
  init(_ path: String, bytes: Int) throws(HostFailure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    defer { close(descriptor) }
    guard ftruncate(descriptor, bytes) == 0 else { throw Self.failure(path, errno) }
    // Reserves the blocks now: on a full disk, a write to a missing block would raise SIGBUS.
    let error = posix_fallocate(descriptor, 0, bytes)
    guard error == 0 else { throw Self.failure(path, error) }
    guard let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else {
      throw Self.failure(path, errno)
    }
    self.memory = memory
  }

  private static func failure(_ path: String, _ error: Int32) -> HostFailure {
    let remedy = error == ENOSPC ? "free some space" : "check the owner and mode of the state directory"
    return HostFailure(.configuration, "crash memory \(path): \(String(cString: strerror(error))): \(remedy)")
  }
}
