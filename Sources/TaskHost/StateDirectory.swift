import Glibc
import HostThreads
import TaskModel
import TaskStore

/// The folder in which a host keeps its database and its plugins' data. One host at a time has it, as long as this object lives.
public final class StateDirectory: Sendable {
  /// An absolute path.
  let path: String
  /// The directory itself, which is locked: somebody may remove a file in it.
  private let folder: Int32
  /// The file `lock` in it, which is locked too: earlier versions lock it alone.
  private let lock: Guarded<Int32>
  private static let lockName = "lock"

  /// Makes the folder of a configuration if need be and takes its lock.
  ///
  /// - Throws: A ``HostFailure`` when another host has it, it cannot be written, or the machine does not offer what the configuration demands.
  public convenience init(_ configuration: HostConfiguration) throws(HostFailure) {
    try configuration.checkDemands()
    try self.init(configuration.stateDirectory)
  }

  /// Makes the folder if need be, takes its lock, and finds out whether it can be written.
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
    // A file system that cannot lock directories has the file's lock alone.
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

  /// The path of the lock's file.
  var lockFile: String { path + "/" + Self.lockName }

  /// What became of the lock's file.
  enum LockFate {
    case kept
    /// It was gone, or another file, and is there again; what was seen.
    case madeAgain(String)
    /// It is gone, or another file, and cannot be made again; what was seen.
    case lost(String)
  }

  /// Makes the lock's file again where somebody removed or replaced it. From any thread.
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

  /// The store's file.
  var database: String { path + "/taskhost.sqlite" }

  /// What is remembered of the store outside of it.
  var storeMark: String { path + "/store.mark" }

  /// What a host makes once it has its store: where this is, there was one.
  var storeTraces: [String] { [begunRuns, copies] }

  /// Throws unless the file at `mark` may be a second mark of the store: a mark, or nothing, in a directory that is there and outside of this
  /// one. What else is at that path is somebody's, and is not to be replaced.
  func check(mark: String) throws(HostFailure) {
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

  /// Where the private copies of plugins are.
  var copies: String { path + "/copies" }

  /// The crash memory's file.
  var crashMemory: String { path + "/crash" }
  /// Which of the runs that were handed out ahead have begun.
  var begunRuns: String { path + "/begun" }

  /// The file with the overrides of conditions.
  var conditionOverrides: String { path + "/condition-overrides" }

  /// A plugin's own folder, made if need be; an absolute path.
  static func dataDirectory(in path: String, for identifier: TaskIdentifier) throws(HostFailure) -> String {
    let folder = path + "/data/" + identifier.rawValue
    try make(path + "/data")
    try make(folder)
    return folder
  }

  private static func make(_ path: String) throws(HostFailure) {
    guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    let code = errno
    // Parents that are missing are made too.
    if code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try make(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 { return }
    }
    throw failure("directory \(path) cannot be made", errno)
  }

  /// A full disk or a read-only mount is said now, not at the first submission.
  private static func probe(_ path: String) throws(HostFailure) {
    let name = path + "/probe"
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

  /// Payloads and plugins' state are nobody else's to read, whatever the mode of the folder is. SQLite gives its other files this mode too.
  private static func makePrivate(_ path: String) throws(HostFailure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("store \(path) cannot be opened", errno) }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("the mode of \(path) cannot be set to 0600", errno) }
  }

  private static func sign(_ lock: Int32) {
    let text = Array("\(getpid())\n".utf8)
    ftruncate(lock, 0)
    _ = text.withUnsafeBytes { pwrite(lock, $0.baseAddress, $0.count, 0) }
  }

  private static func holder(of lock: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = bytes.withUnsafeMutableBytes { pread(lock, $0.baseAddress, $0.count, 0) }
    let digits = bytes.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
    return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
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
