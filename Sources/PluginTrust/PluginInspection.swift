import Glibc

/// The checks of one file. Nothing of the file is mapped or run, and no kind of file makes them wait.
struct PluginInspection: Sendable {
  /// A file is the same file by these two numbers, whatever its name.
  struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  let policy: PluginTrustPolicy

  /// Checks the file `name` in an open directory.
  ///
  /// - Parameters:
  ///   - directory: Descriptor of the directory, borrowed.
  ///   - path: The file's path, for the result and the sentences.
  ///   - claim: Called with the file's identity before it is read; gives the name of an earlier file that was the same, if any.
  func inspect(
    _ name: String, in directory: Int32, path: String, claim: (Identity) -> String?
  ) throws(Objection) -> PluginFile {
    var listed = stat()
    guard fstatat(directory, name, &listed, AT_SYMLINK_NOFOLLOW) == 0 else { throw .unreadable(errno) }
    try Self.checkKind(listed.st_mode)
    // What was listed can be replaced before it is opened, so the open must not wait on a FIFO nor follow a link.
    let descriptor = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw errno == ELOOP ? .symbolicLink : .unreadable(errno) }
    defer { close(descriptor) }
    var before = stat()
    guard fstat(descriptor, &before) == 0 else { throw .unreadable(errno) }
    try Self.checkKind(before.st_mode)
    guard before.st_dev == listed.st_dev, before.st_ino == listed.st_ino else { throw .changed }
    if let first = claim(Identity(device: UInt64(before.st_dev), inode: UInt64(before.st_ino))) { throw .sameFile(as: first) }
    guard before.st_uid == 0 || before.st_uid == policy.user else {
      throw .wrongOwner("the file", path: path, owner: before.st_uid, user: policy.user)
    }
    guard before.st_mode & 0o022 == 0 else { throw .writable("the file", path: path, mode: before.st_mode) }
    let size = UInt64(max(before.st_size, 0))
    guard size <= policy.maximumSize else { throw .tooBig(size: size, limit: policy.maximumSize) }

    let elf = try ElfSummary(reading: BoundedFile(descriptor: descriptor, size: size), policy: policy)

    var after = stat()
    guard fstat(descriptor, &after) == 0 else { throw .unreadable(errno) }
    guard after.st_size == before.st_size, Self.nanoseconds(after.st_mtim) == Self.nanoseconds(before.st_mtim),
      Self.nanoseconds(after.st_ctim) == Self.nanoseconds(before.st_ctim)
    else { throw .changed }
    return PluginFile(
      path: path, name: name, device: UInt64(before.st_dev), inode: UInt64(before.st_ino), size: size,
      modified: Self.nanoseconds(before.st_mtim), elf: elf)
  }

  private static func checkKind(_ mode: mode_t) throws(Objection) {
    switch mode & S_IFMT {
    case S_IFREG: return
    case S_IFLNK: throw .symbolicLink
    case S_IFDIR: throw .notRegular("directory")
    case S_IFIFO: throw .notRegular("FIFO")
    case S_IFSOCK: throw .notRegular("socket")
    case S_IFCHR, S_IFBLK: throw .notRegular("device")
    default: throw .notRegular("file of an unknown kind")
    }
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
