import Glibc

/// A memory-mapped file of the state directory: the kernel keeps what is written to it when the process dies, without a sync. A loss of
/// power may lose it.
struct MappedFile {
  /// Where it is; never unmapped. A new file is all zero.
  let memory: UnsafeMutableRawPointer

  /// Opens the file, makes it where it is missing, and gives it that many bytes.
  init(_ path: String, bytes: Int) throws(HostFailure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    defer { close(descriptor) }
    guard ftruncate(descriptor, bytes) == 0 else { throw Self.failure(path, errno) }
    // Its blocks are there before they are needed: a full disk would make a write a fault.
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
