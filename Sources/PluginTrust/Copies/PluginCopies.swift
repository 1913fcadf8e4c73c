import Glibc
import Synchronization
public import TaskModel

/// The host's private copies of plugins, in a directory only it may use: `<SHA-256 of the content>.so`, mode 0500.
///
/// A plugin is copied, the copy is checked, and the copy is loaded: what was checked is what runs, and nobody who writes to the original
/// pulls mapped pages away from under a running plugin. Methods may be called from any thread, and block on the disk: call them off the
/// cooperative pool. One host at a time uses a directory; the lock on the state directory sees to that.
public final class PluginCopies: Sendable {
  /// How the names of copies that are not complete begin.
  static let temporaryPrefix = ".new-"
  /// The mode of a copy: the loader needs no more, and nothing is written to it again.
  static let copyMode: mode_t = 0o500
  /// `ST_NOEXEC` of `statvfs`, which glibc shows to GNU sources only.
  private static let mountedNoExec: UInt = 8

  /// Absolute path of the directory, with links resolved.
  public let directory: String

  /// The open directory, closed at the end of this object's life.
  let descriptor: Int32
  /// The user who owns the directory and every copy.
  let user = geteuid()
  /// Tells this object's temporaries from those a host left behind that was killed.
  let mark: String
  private let count = Atomic<UInt64>(0)
  /// Names of copies that may not be on the disk yet.
  private let unsettled = Mutex<Set<String>>([])

  /// Makes the directory if it is not there (not those above it), sets its mode to 0700, and checks that nobody but root and the host can
  /// change what is in it.
  ///
  /// - Parameter directory: Absolute or relative to the working directory; the host uses `copies` in its state directory.
  /// - Throws: ``PluginCopiesError`` when it cannot be made or opened, belongs to somebody else, lies where others may put another
  ///   directory in its place, or on a file system from which nothing can be loaded.
  public init(directory: String) throws(PluginCopiesError) {
    if mkdir(directory, 0o700) != 0, errno != EEXIST { throw PluginCopiesError(directory: directory, number: errno) }
    let trust: DirectoryTrust
    do throws(PluginDirectoryError) { trust = try DirectoryTrust(of: directory, user: geteuid()) } catch {
      throw PluginCopiesError(directory: directory, observed: error.observed, remedy: "Correct state_directory.")
    }
    let descriptor = open(trust.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw PluginCopiesError(directory: directory, number: errno) }
    self.directory = trust.path
    self.descriptor = descriptor
    mark = Hex.text((0..<8).map { _ in UInt8.random(in: 0...255) })
    if let objection = trust.objection {
      throw PluginCopiesError(directory: directory, observed: objection.observed, remedy: objection.remedy)
    }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw PluginCopiesError(directory: directory, number: errno) }
    guard info.st_uid == user else {
      throw PluginCopiesError(
        directory: directory, observed: "is owned by user \(info.st_uid), the host runs as user \(user)",
        remedy: "Run: chown -R \(user) '\(trust.path)'.")
    }
    var system = statvfs()
    if fstatvfs(descriptor, &system) == 0, system.f_flag & Self.mountedNoExec != 0 {
      throw PluginCopiesError(
        directory: directory, observed: "is on a file system mounted noexec, from which no plugin can be loaded",
        remedy: "Put state_directory on another file system, or mount this one with exec.")
    }
    if info.st_mode & 0o7777 != 0o700, fchmod(descriptor, 0o700) != 0 { throw PluginCopiesError(directory: directory, number: errno) }
  }

  deinit { close(descriptor) }

  /// Checks a file and copies it.
  ///
  /// The original is opened with the checks of a scan (kind, owner, mode, directories) and copied while SHA-256 is computed; it must not
  /// change meanwhile. The ELF checks read the copy. A copy of the same content that is there already is read again and used if it is
  /// undamaged, else replaced; a plugin that runs on the damaged one keeps it.
  ///
  /// - Parameters:
  ///   - path: The original, absolute or relative to the working directory.
  ///   - policy: Whom to trust.
  ///   - listed: The file as a scan found it; another one in its place is refused as changed.
  /// - Throws: Why the file is refused, `copy_failed` when the copy could not be written included.
  public func take(
    _ path: String, policy: PluginTrustPolicy = PluginTrustPolicy(), listed: PluginFile? = nil
  ) throws(PluginRefusal) -> VerifiedPlugin {
    do throws(Objection) {
      return try TrustedDirectory.opened(path, user: policy.user) { directory throws(Objection) in
        try take(directory, policy, listed.map { FileMarks($0) })
      }
    } catch {
      throw error.refusal(of: path)
    }
  }

  private func take(
    _ original: TrustedDirectory, _ policy: PluginTrustPolicy, _ listed: FileMarks?
  ) throws(Objection) -> VerifiedPlugin {
    let start = FileClock.now()
    let stored = try store(original, policy, listed) { file throws(Objection) in try ElfSummary(reading: file, policy: policy) }
    let file = PluginFile(path: original.path, name: original.name, marks: stored.marks, elf: stored.content)
    return VerifiedPlugin(
      file: file, digest: stored.digest, copy: stored.copy,
      remembered: FileClock.hasSettled(stored.marks, at: start) ? file.known(digest: stored.digest) : nil)
  }

  /// A copy that was made, or was there.
  struct Stored<Content> {
    let marks: FileMarks
    let digest: [UInt8]
    /// Absolute path of the copy.
    let copy: String
    /// What was read from the copy.
    let content: Content
  }

  /// Copies a file after its checks.
  ///
  /// - Parameters:
  ///   - listed: The file as a scan found it; another one in its place is refused as changed.
  ///   - read: Checks the copy.
  func store<Content>(
    _ original: TrustedDirectory, _ policy: PluginTrustPolicy, _ listed: FileMarks?, read: (BoundedFile) throws(Objection) -> Content
  ) throws(Objection) -> Stored<Content> {
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
      file, marks throws(Objection) in
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

  /// The copy of a file that a scan found unchanged, without reading it: the system must say that it is a file of the right size, the
  /// host's own, with the mode of a copy and one name.
  ///
  /// - Returns: Its absolute path; nil when it is not there or not as it should be: ``take(_:policy:listed:)`` makes it anew.
  public func copy(of known: KnownPluginFile) -> String? {
    let name = Self.name(of: known.digest)
    var info = stat()
    guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0, isCopy(info, size: known.size) else { return nil }
    return directory + "/" + name
  }

  /// What the copy of a known file says of itself, for a plugin that must be launched again although its file is unchanged.
  ///
  /// Reads the copy's ELF structures, not all of it. The marks are those of the original.
  ///
  /// - Throws: Why it is refused: it has no copy as ``copy(of:)`` wants it, or the policy no longer takes it.
  public func reopen(_ known: KnownPluginFile, policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginRefusal) -> VerifiedPlugin {
    let name = Self.name(of: known.digest)
    do throws(Objection) {
      let copy = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
      guard copy >= 0 else { throw .copyLost }
      defer { close(copy) }
      var info = stat()
      guard fstat(copy, &info) == 0, isCopy(info, size: known.size) else { throw .copyLost }
      let elf = try ElfSummary(reading: BoundedFile(descriptor: copy, size: known.size), policy: policy)
      let file = PluginFile(path: known.path, name: known.name, marks: FileMarks(known), elf: elf)
      return VerifiedPlugin(file: file, digest: known.digest, copy: directory + "/" + name, remembered: known)
    } catch {
      throw error.refusal(of: known.path)
    }
  }

  /// Removes every copy of another content than `digests`, and what a host that was killed left half written.
  ///
  /// A plugin that runs on a removed copy runs on. Do not call it while another thread takes a plugin that is not among `digests`. Files
  /// that are neither copies nor left over from copying stay.
  ///
  /// - Returns: How many files were removed.
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

  /// Waits until copies made since the last call are on the disk; returns at once if there are none.
  ///
  /// Call it before the files are remembered: a memory that survives a loss of power must not lead to a copy that did not.
  ///
  /// - Returns: Whether the disk took them all; if not, remember none of them.
  public func settle() -> Bool {
    let names = unsettled.withLock { names in
      defer { names = [] }
      return names
    }
    guard !names.isEmpty else { return true }
    var isSettled = true
    for name in names {
      let copy = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
      // One that was removed meanwhile leads nobody astray.
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

  /// Reads the copy: whether it is there and has the content its name says.
  private func isIntact(_ name: String, size: UInt64, digest: [UInt8]) -> Bool {
    let copy = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard copy >= 0 else { return false }
    defer { close(copy) }
    var info = stat()
    guard fstat(copy, &info) == 0, isCopy(info, size: size) else { return false }
    return (try? FileDigest.sha256(of: BoundedFile(descriptor: copy, size: size))) == digest
  }
}

extension PluginCopiesError {
  /// What a call of the system said about the directory.
  init(directory: String, number: Int32) {
    self.init(
      directory: directory, observed: "cannot be used for private copies of plugins: \(String(cString: strerror(number)))",
      remedy: "Give the host's user permission to make and change it, or correct state_directory.")
  }
}
