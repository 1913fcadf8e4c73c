import Glibc

/// The checks of one file. They neither map nor run it, and no kind of file makes them block.
struct PluginInspection: Sendable {
  struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  let policy: PluginTrustPolicy

  /// Checks the file `name` in an open directory.
  ///
  /// - Parameters:
  ///   - directory: The borrowed descriptor of the directory.
  ///   - path: The file's path, for the result and messages.
  ///   - claim: Called with the file's identity before the file is read. Returns the path of a previously listed file with the same
  ///     identity, if any.
  func inspect(
    _ name: String, in directory: Int32, path: String, claim: (Identity) -> String?
  ) throws(Rejection) -> PluginFile {
    let (marks, elf) = try opening(name, in: directory, path: path, claim: claim) { file, _ throws(Rejection) in
      try ElfSummary(reading: file, policy: policy)
    }
    return PluginFile(path: path, name: name, marks: marks, elf: elf)
  }

  /// Checks everything except the content, which `body` reads. Then checks that the file did not change meanwhile.
  ///
  /// - Parameters:
  ///   - directory: The borrowed descriptor of the directory.
  ///   - path: The file's path, for messages.
  ///   - claim: Called with the file's identity before the file is read. Returns the path of a previously listed file with the same
  ///     identity, if any.
  ///   - body: Gets the open file, which it borrows, and its marks.
  func opening<Result>(
    _ name: String, in directory: Int32, path: String, claim: (Identity) -> String?,
    _ body: (BoundedFile, FileMarks) throws(Rejection) -> Result
  ) throws(Rejection) -> (FileMarks, Result) {
    var listed = stat()
    guard fstatat(directory, name, &listed, AT_SYMLINK_NOFOLLOW) == 0 else { throw .unreadable(errno) }
    try Self.checkKind(listed.st_mode)
    // A listed file can be replaced before it is opened, so opening must neither wait for a FIFO nor follow a link.
    let descriptor = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw errno == ELOOP ? .symbolicLink : .unreadable(errno) }
    defer { close(descriptor) }
    var before = stat()
    guard fstat(descriptor, &before) == 0 else { throw .unreadable(errno) }
    guard before.st_dev == listed.st_dev, before.st_ino == listed.st_ino else { throw .changed }
    try check(before, path: path, claim: claim)
    let marks = FileMarks(before)

    let result = try body(BoundedFile(descriptor: descriptor, size: marks.size), marks)

    var after = stat()
    guard fstat(descriptor, &after) == 0 else { throw .unreadable(errno) }
    guard FileMarks(after) == marks else { throw .changed }
    return (marks, result)
  }

  /// Checks kind, owner, mode and size, and that the file was not listed before.
  func check(_ info: stat, path: String, claim: (Identity) -> String?) throws(Rejection) {
    try Self.checkKind(info.st_mode)
    if let first = claim(Identity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino))) { throw .sameFile(as: first) }
    guard info.st_uid == 0 || info.st_uid == policy.user else {
      throw .wrongOwner("the file", path: path, owner: info.st_uid, user: policy.user)
    }
    guard info.st_mode & 0o022 == 0 else { throw .writable("the file", path: path, mode: info.st_mode) }
    let size = UInt64(max(info.st_size, 0))
    guard size <= policy.maximumSize else { throw .tooBig(size: size, limit: policy.maximumSize) }
  }

  private static func checkKind(_ mode: mode_t) throws(Rejection) {
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
}
