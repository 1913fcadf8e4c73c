import Glibc
import HostThreads
import TaskModel
import TaskStore

/// The folder with the host's database and its plugins' data. This object holds its lock: one host at a time uses it.
public final class StateDirectory: Sendable {
  /// Absolute, without links.
  let path: String
  /// The locked directory itself, since a file in it may be removed.
  private let folder: Int32
  /// The file `lock` in it, locked too, because earlier versions lock only this file.
  private let lock: Guarded<Int32>
  private static let lockName = "lock"

  /// Creates the configured folder if necessary, and locks it.
  ///
  /// - Throws: A ``HostFailure`` if another host uses it, it is not writable, or the machine does not meet a demand of the configuration.
  public convenience init(_ configuration: HostConfiguration) throws(HostFailure) {
    try configuration.checkDemands()
    try self.init(configuration.stateDirectory)
  }

  init(_ path: String) throws(HostFailure) {
    try Self.make(path)
    guard let resolved = realpath(path, nil) else { throw Self.failure("state directory \(path)", errno) }
    defer { free(resolved) }
    let real = String(cString: resolved)
    let held = try Self.hold(real)
    self.path = real
    folder = held.folder
    lock = Guarded(held.lock)
    try Self.probe(real)
    try Self.makePrivate(database)
    Self.sign(held.lock)
  }

  deinit {
    close(lock.withLock { $0 })
    close(folder)
  }

  private static func hold(_ path: String) throws(HostFailure) -> (folder: Int32, lock: Int32) {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw failure("state directory \(path)", errno) }
    let lock = openLock(in: folder)
    guard lock >= 0 else {
      let failure = Self.failure("state directory \(path)", errno)
      close(folder)
      throw failure
    }
    // If the file system cannot lock directories, the file's lock must suffice.
    guard flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.holder(of: lock)
      close(lock)
      close(folder)
      throw HostFailure(
        .configuration, "state directory \(path): another host\(holder) has it: stop that one, or use another directory (--state)")
    }
    return (folder, lock)
  }

  private static func openLock(in folder: Int32) -> Int32 { openat(folder, lockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }

  var lockFile: String { path + "/" + Self.lockName }

  enum LockFate {
    case kept
    /// It was deleted or replaced, and has been recreated; the observation.
    case madeAgain(String)
    /// It was deleted or replaced, and cannot be recreated; the observation.
    case lost(String)
  }

  /// Recreates the lock file if it was removed or replaced. Any thread.
  func keepLock() -> LockFate {
    lock.withLock { lock in
      var (own, found) = (stat(), stat())
      guard fstat(lock, &own) == 0 else { return .kept }
      let isThere = fstatat(folder, Self.lockName, &found, AT_SYMLINK_NOFOLLOW) == 0
      guard isThere || errno == ENOENT else { return .kept }
      if isThere, own.st_dev == found.st_dev, own.st_ino == found.st_ino { return .kept }
      let seen = isThere ? "\(lockFile) is another file now" : "\(lockFile) is gone"
      let new = Self.openLock(in: folder)
      guard new >= 0 else { return .lost("\(seen), and cannot be made again: \(String(cString: strerror(errno)))") }
      guard flock(new, LOCK_EX | LOCK_NB) == 0 else {
        close(new)
        return .lost("\(seen), and another process has locked it")
      }
      close(lock)
      lock = new
      Self.sign(new)
      return .madeAgain(seen)
    }
  }

  var database: String { path + "/taskhost.sqlite" }

  /// The record about the store that is kept outside of it.
  var storeMark: String { path + "/store.mark" }

  /// Files that a host creates only once it has a store: if one exists, there was a store.
  var storeTraces: [String] { [begunRuns, copies] }

  /// Throws unless `mark` can be a second mark of the store: its directory must exist outside of the state directory `path`, and the path must
  /// be free or hold a mark. Any other file is not the host's to replace.
  static func check(mark: String, outsideOf path: String) throws(HostFailure) {
    func failure(_ sentence: String) -> HostFailure { HostFailure(.configuration, "store_mark \(mark): \(sentence)") }
    let slash = mark.lastIndex(of: "/") ?? mark.startIndex
    let folder = slash == mark.startIndex ? "/" : String(mark[..<slash])
    guard let resolved = realpath(folder, nil) else {
      throw failure("its directory \(folder): \(String(cString: strerror(errno))): create it, or name a file elsewhere")
    }
    defer { free(resolved) }
    let real = String(cString: resolved)
    guard real != path, !real.hasPrefix(path + "/") else {
      throw failure("it is inside of the state directory \(path), and would go with that: name a file elsewhere")
    }
    if let found = SQLiteRequestStore.foreign(atMark: mark) {
      throw failure("\(found): a host replaces nothing but its own mark: move it away, or name a file elsewhere")
    }
  }

  /// The folder of the private copies of plugins.
  var copies: String { path + "/copies" }

  var crashMemory: String { path + "/crash" }
  /// See ``BegunRuns``.
  var begunRuns: String { path + "/begun" }

  var conditionOverrides: String { path + "/condition-overrides" }

  /// What the ids of the host's fleet share, for a launch while the fleet's database cannot be reached.
  var fleetMark: String { path + "/fleet" }

  /// See ``ApprovalBook``.
  var approvals: String { path + "/approvals.json" }

  /// The absolute path of a plugin's own folder. Creates it if necessary.
  static func dataDirectory(in path: String, for identifier: TaskIdentifier) throws(HostFailure) -> String {
    let folder = path + "/data/" + identifier.rawValue
    try make(path + "/data")
    try make(folder)
    return folder
  }

  /// The absolute path of a plugin's folder for transfers; without an identifier, of the folder with all of them. Creates it if necessary.
  static func transferFolder(in path: String, for identifier: TaskIdentifier? = nil) throws(HostFailure) -> String {
    try make(path + "/transfers")
    guard let identifier else { return path + "/transfers" }
    try make(path + "/transfers/" + identifier.rawValue)
    return path + "/transfers/" + identifier.rawValue
  }

  /// Throws if files cannot be written in the existing directory `path`, which may be another host's. Writes a file there and removes it.
  static func probeWriting(in path: String) throws(HostFailure) { try probe(path, named: "probe-\(getpid())") }

  private static func make(_ path: String) throws(HostFailure) {
    guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    let code = errno
    if code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try make(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 { return }
    }
    throw failure("directory \(path) cannot be made", errno)
  }

  /// Detects a full disk or a read-only mount now rather than at the first submission.
  private static func probe(_ path: String, named name: String = "probe") throws(HostFailure) {
    let name = path + "/" + name
    let descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("state directory \(path) cannot be written", errno) }
    defer {
      close(descriptor)
      unlink(name)
    }
    let block = [UInt8](repeating: 0x74, count: 65_536)
    let written = block.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard written == block.count, fsync(descriptor) == 0 else {
      let code = errno
      let isLimited = FileSizeLimit.bytes.map { $0 < block.count } ?? false
      throw failure(
        "state directory \(path) cannot be written", isLimited ? EFBIG : written >= 0 && written < block.count ? ENOSPC : code)
    }
  }

  /// Keeps payloads and plugin state private, whatever the folder's mode. SQLite gives its other files the same mode.
  private static func makePrivate(_ path: String) throws(HostFailure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("store \(path) cannot be opened", errno) }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("the mode of \(path) cannot be set to 0600", errno) }
  }

  /// The process that has a state directory; nil if none lives that is a host. Takes no lock, so a host may start meanwhile.
  ///
  /// - Parameter path: The directory, which need not exist.
  public static func process(holding path: String) -> Int32? {
    let lock = open(path + "/" + lockName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard lock >= 0 else { return nil }
    defer { close(lock) }
    guard let process = signature(of: lock), kill(process, 0) == 0 || errno == EPERM else { return nil }
    // The number may have gone to another program since.
    guard let name = try? WholeTransfer.read("/proc/\(process)/comm", atMost: 64) else { return nil }
    return String(decoding: name, as: UTF8.self).hasPrefix("taskhost") ? process : nil
  }

  private static func signature(of lock: Int32) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = bytes.withUnsafeMutableBytes { pread(lock, $0.baseAddress, $0.count, 0) }
    return Int32(String(decoding: bytes.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
  }

  private static func sign(_ lock: Int32) {
    let text = Array("\(getpid())\n".utf8)
    ftruncate(lock, 0)
    _ = text.withUnsafeBytes { pwrite(lock, $0.baseAddress, $0.count, 0) }
  }

  private static func holder(of lock: Int32) -> String {
    signature(of: lock).map { " (process \($0))" } ?? ""
  }

  private static func failure(_ what: String, _ code: Int32) -> HostFailure {
    let remedy =
      switch code {
      case ENOSPC, EDQUOT: "free some space"
      case EFBIG: FileSizeLimit.remedy
      case EROFS: "mount it writable, or use another directory (--state)"
      default: "check its owner and mode, or use another directory (--state)"
      }
    return HostFailure(.configuration, "\(what): \(String(cString: strerror(code))): \(remedy)")
  }
}
