import Glibc
import HostThreads
import StrictText
import Synchronization
public import TaskModel

/// The host's private copies of plugins: files `<SHA-256 of the content>.so` with mode 0500, in a directory that only the host uses.
///
/// The host copies a plugin, checks the copy and loads the copy. It thus runs exactly what it checked, and writes to the original cannot
/// change the mapped pages of a running plugin. Methods block on the disk: call them on any thread outside the cooperative pool. The lock
/// on the state directory ensures that only one host uses a directory.
public final class PluginCopies: Sendable {
  /// The prefix of the names of incomplete copies.
  static let temporaryPrefix = ".new-"
  /// The mode of a copy. The loader needs no more, and a copy is never written again.
  static let copyMode: mode_t = 0o500
  /// `ST_NOEXEC` of `statvfs`, which glibc declares only for GNU sources.
  private static let mountedNoExec: UInt = 8

  /// The absolute path of the directory, with links resolved.
  public let directory: String

  /// The descriptor of the open directory, which `deinit` closes.
  let descriptor: Int32
  let user = geteuid()
  /// Distinguishes this object's temporary files from those of a killed host.
  let mark: String
  private let count = Atomic<UInt64>(0)
  /// The names of copies that may not be on the disk yet.
  private let unsettled = Mutex<Set<String>>([])

  /// Creates the directory if it does not exist, but not its parents. Sets its mode to 0700, and checks that only root and the host can
  /// change its content.
  ///
  /// - Parameter directory: Absolute or relative to the working directory; the host uses `copies` in its state directory.
  /// - Throws: ``PluginDirectoryError`` if the directory cannot be created or opened, belongs to another user, can be replaced by another
  ///   user, or is on a file system mounted noexec.
  public init(directory: String) throws(PluginDirectoryError) {
    if mkdir(directory, 0o700) != 0, errno != EEXIST { throw Self.unusable(directory, errno) }
    let trust: DirectoryTrust
    do throws(PluginDirectoryError) { trust = try DirectoryTrust(of: directory, user: geteuid()) } catch {
      throw PluginDirectoryError(directory: directory, observed: error.observed, remedy: "Correct state_directory.")
    }
    let descriptor = open(trust.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.unusable(directory, errno) }
    self.directory = trust.path
    self.descriptor = descriptor
    mark = Hex.text((0..<8).map { _ in UInt8.random(in: 0...255) })
    if let rejection = trust.rejection {
      throw PluginDirectoryError(directory: directory, observed: rejection.observed, remedy: rejection.remedy)
    }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw Self.unusable(directory, errno) }
    guard info.st_uid == user else {
      throw PluginDirectoryError(
        directory: directory, observed: "is owned by user \(info.st_uid), the host runs as user \(user)",
        remedy: "Run: chown -R \(user) '\(trust.path)'.")
    }
    var system = statvfs()
    if fstatvfs(descriptor, &system) == 0, system.f_flag & Self.mountedNoExec != 0 {
      throw PluginDirectoryError(
        directory: directory, observed: "is on a file system mounted noexec, from which no plugin can be loaded",
        remedy: "Put state_directory on another file system, or mount this one with exec.")
    }
    if info.st_mode & 0o7777 != 0o700, fchmod(descriptor, 0o700) != 0 { throw Self.unusable(directory, errno) }
  }

  deinit { close(descriptor) }

  private static func unusable(_ directory: String, _ number: Int32) -> PluginDirectoryError {
    PluginDirectoryError(
      directory: directory, observed: "cannot be used for private copies of plugins: \(String(cString: strerror(number)))",
      remedy: "Give the host's user permission to create and change it, or correct state_directory.")
  }

  /// Checks a file and copies it.
  ///
  /// Opens the original with the checks of a scan (kind, owner, mode, directories) and copies it while computing its SHA-256. It must not
  /// change meanwhile. The ELF checks read the copy. If a copy of the same content exists, it is read again: an intact copy is used, a
  /// damaged one is replaced, and a plugin that runs from a damaged copy keeps it.
  ///
  /// - Parameters:
  ///   - path: The original, absolute or relative to the working directory.
  ///   - policy: The users and directories to trust.
  ///   - listed: The file as a scan found it. If another file has taken its place, that file is refused as changed.
  /// - Throws: The reason for refusing the file, including `copy_failed` if the copy could not be written.
  public func take(
    _ path: String, policy: PluginTrustPolicy = PluginTrustPolicy(), listed: PluginFile? = nil
  ) throws(PluginRefusal) -> VerifiedPlugin {
    try Rejection.refusing(path) { () throws(Rejection) in
      try TrustedDirectory.opened(path, user: policy.user) { directory throws(Rejection) in
        try take(directory, policy, listed?.marks)
      }
    }
  }

  private func take(
    _ original: TrustedDirectory, _ policy: PluginTrustPolicy, _ listed: FileMarks?
  ) throws(Rejection) -> VerifiedPlugin {
    let start = FileClock.now()
    let stored = try store(original, policy, listed) { file throws(Rejection) in try ElfSummary(reading: file, policy: policy) }
    let file = PluginFile(path: original.path, name: original.name, marks: stored.marks, elf: stored.content)
    return VerifiedPlugin(
      file: file, digest: stored.digest, copy: stored.copy,
      remembered: FileClock.hasSettled(stored.marks, at: start) ? file.known(digest: stored.digest) : nil)
  }

  struct Stored<Content> {
    let marks: FileMarks
    let digest: [UInt8]
    /// The absolute path of the copy.
    let copy: String
    let content: Content
  }

  /// Copies a file after its checks.
  ///
  /// - Parameters:
  ///   - listed: The file as a scan found it. If another file has taken its place, that file is refused as changed.
  ///   - read: Checks the copy.
  func store<Content>(
    _ original: TrustedDirectory, _ policy: PluginTrustPolicy, _ listed: FileMarks?, read: (BoundedFile) throws(Rejection) -> Content
  ) throws(Rejection) -> Stored<Content> {
    let number = count.wrappingAdd(1, ordering: .relaxed).newValue
    let temporary = "\(Self.temporaryPrefix)\(mark)-\(number)"
    let copy = openat(descriptor, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard copy >= 0 else { throw .copyFailed(errno) }
    var isRenamed = false
    defer {
      close(copy)
      if !isRenamed { unlinkat(descriptor, temporary, 0) }
    }
    let inspection = PluginInspection(policy: policy)
    let (marks, digest) = try inspection.opening(original.name, in: original.descriptor, path: original.path, claim: { _ in nil }) {
      file, marks throws(Rejection) in
      if let listed, listed != marks { throw .changed }
      return try FileDigest.sha256(of: file, copyingTo: copy)
    }
    let content = try read(BoundedFile(descriptor: copy, size: marks.size))

    let name = Self.name(of: digest)
    if !isIntact(name, size: marks.size, digest: digest) {
      guard fchmod(copy, Self.copyMode) == 0, renameat(descriptor, temporary, descriptor, name) == 0 else { throw .copyFailed(errno) }
      isRenamed = true
      unsettled.withLock { _ = $0.insert(name) }
    }
    return Stored(marks: marks, digest: digest, copy: directory + "/" + name, content: content)
  }

  /// The copy of a file that a scan found unchanged. The content is not read: the copy must be a regular file of the right size, owned by
  /// the host, with the mode of a copy and one link.
  ///
  /// - Returns: The copy's absolute path; nil if the copy is missing or wrong, in which case ``take(_:policy:listed:)`` makes it again.
  public func copy(of known: KnownPluginFile) -> String? {
    let name = Self.name(of: known.digest)
    var info = stat()
    guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0, isCopy(info, size: known.size) else { return nil }
    return directory + "/" + name
  }

  /// Reads the declarations in the copy of a known file, for a plugin that must be launched again although its file is unchanged.
  ///
  /// Reads only the copy's ELF structures. The marks are those of the original.
  ///
  /// - Throws: The reason for refusing the file: ``copy(of:)`` finds no valid copy, or the policy no longer accepts it.
  public func reopen(_ known: KnownPluginFile, policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginRefusal) -> VerifiedPlugin {
    let name = Self.name(of: known.digest)
    return try Rejection.refusing(known.path) { () throws(Rejection) in
      let copy = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
      guard copy >= 0 else { throw .copyLost }
      defer { close(copy) }
      var info = stat()
      guard fstat(copy, &info) == 0, isCopy(info, size: known.size) else { throw .copyLost }
      let elf = try ElfSummary(reading: BoundedFile(descriptor: copy, size: known.size), policy: policy)
      let file = PluginFile(path: known.path, name: known.path.lastComponent, marks: FileMarks(known), elf: elf)
      return VerifiedPlugin(file: file, digest: known.digest, copy: directory + "/" + name, remembered: known)
    }
  }

  /// Removes every copy whose digest is not in `digests`, and the incomplete copies of a killed host.
  ///
  /// A plugin that runs from a removed copy continues. Other files stay. Do not call this while another thread takes a plugin whose digest
  /// is not in `digests`.
  ///
  /// - Returns: The number of removed files.
  @discardableResult
  public func removeAllBut(_ digests: Set<[UInt8]>) -> Int {
    let own = Self.temporaryPrefix + mark
    let names = (try? DirectoryNames.list(in: descriptor)) ?? []
    var removed = 0
    for bytes in names {
      let name = String(decoding: bytes, as: UTF8.self)
      let isLeftOver = name.hasPrefix(Self.temporaryPrefix) && !name.hasPrefix(own)
      let isUnused =
        bytes.suffix(3).elementsEqual(".so".utf8) && Hex.bytes(bytes.dropLast(3), count: 32).map { !digests.contains($0) } == true
      if isLeftOver || isUnused, unlinkat(descriptor, name, 0) == 0 { removed += 1 }
    }
    return removed
  }

  /// The digests of the copies that are there.
  public func present() -> Set<[UInt8]> {
    let names = (try? DirectoryNames.list(in: descriptor)) ?? []
    return Set(names.filter { $0.suffix(3).elementsEqual(".so".utf8) }.compactMap { Hex.bytes($0.dropLast(3), count: 32) })
  }

  /// Waits until the copies made since the last call are on the disk; returns at once if there are none.
  ///
  /// Call it before remembering the files: after a power loss, a remembered file must not lead to a lost copy.
  ///
  /// - Returns: Whether all copies reached the disk; if not, remember none of them.
  public func settle() -> Bool {
    let names = unsettled.withLock { names in
      defer { names = [] }
      return names
    }
    guard !names.isEmpty else { return true }
    var isSettled = true
    for name in names {
      let copy = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
      // A copy removed meanwhile needs no sync.
      guard copy >= 0 else { continue }
      defer { close(copy) }
      if fdatasync(copy) != 0 { isSettled = false }
    }
    return fsync(descriptor) == 0 && isSettled
  }

  private static func name(of digest: [UInt8]) -> String { Hex.text(digest) + ".so" }

  private func isCopy(_ info: stat, size: UInt64) -> Bool {
    info.st_mode == S_IFREG | Self.copyMode && info.st_uid == user && info.st_nlink == 1 && info.st_size >= 0
      && UInt64(info.st_size) == size
  }

  /// Whether the copy exists and its content matches its name; reads the whole copy.
  private func isIntact(_ name: String, size: UInt64, digest: [UInt8]) -> Bool {
    let copy = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard copy >= 0 else { return false }
    defer { close(copy) }
    var info = stat()
    guard fstat(copy, &info) == 0, isCopy(info, size: size) else { return false }
    return (try? FileDigest.sha256(of: BoundedFile(descriptor: copy, size: size))) == digest
  }
}
