internal import CCleanup
internal import Glibc

/// Which files processes had open, or were in, at one moment, as far as this process may know.
///
/// Without the privilege to trace other users' processes (CAP_SYS_PTRACE) it holds only those of its own user, and in a sandbox
/// perhaps only its own: the write lease that ``FileRemover`` asks the kernel for does not depend on it.
struct OpenFileIndex: Sendable {
  private var identities: Set<FileIdentity> = []
  /// Whether every process could be looked into. False also when /proc is not readable at all.
  private(set) var isComplete = true
  /// Whether a process of this user could not be looked into.
  private var hidesOwn = false
  /// Whether a process besides this one could.
  private var seesOthers = false
  /// How many processes could be looked into.
  private(set) var processes = 0

  /// An index that knows of no open file and says so.
  static let unknown = OpenFileIndex(identities: [], isComplete: false)

  init(identities: Set<FileIdentity>, isComplete: Bool, hidesOwn: Bool = false, processes: Int = 0) {
    self.identities = identities
    self.isComplete = isComplete
    self.hidesOwn = hidesOwn
    self.processes = processes
  }

  /// Looks through all of /proc; takes about a millisecond for a hundred processes.
  ///
  /// - Parameter isCancelled: Asked once a process; when true, the index ends there, incomplete.
  static func current(isCancelled: () -> Bool = { false }) -> OpenFileIndex {
    var index = OpenFileIndex(identities: [], isComplete: true)
    let opened = taskhost_cleanup_open_proc()
    guard opened >= 0, let proc = fdopendir(opened) else {
      if opened >= 0 { close(opened) }
      return .unknown
    }
    defer { closedir(proc) }
    while let entry = readdir(proc) {
      guard let name = OpenFileIndex.name(of: entry), let first = name.utf8.first, (0x30...0x39).contains(first) else { continue }
      if isCancelled() {
        index.isComplete = false
        break
      }
      index.addProcess(name, in: opened)
    }
    return index
  }

  /// Whether it holds what this user's processes have open. Without /proc nothing is known, and a sandbox may let /proc be listed but
  /// hides what is open in every process but its own.
  var isUsable: Bool { processes > 0 && (seesOthers || !hidesOwn) }

  /// Whether some process had this file or directory open.
  func contains(_ identity: FileIdentity) -> Bool { identities.contains(identity) }

  private mutating func addProcess(_ process: String, in proc: Int32) {
    if let directory = try? FileStatus(directory: proc, name: "\(process)/cwd", followingSymlink: true) {
      identities.insert(directory.identity)
    }
    let descriptors = openat(proc, "\(process)/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptors >= 0, let stream = fdopendir(descriptors) else {
      // A process that ended meanwhile has nothing open; any other answer hides something.
      if errno != ENOENT && errno != ESRCH { noteHidden(process, in: proc) }
      if descriptors >= 0 { close(descriptors) }
      return
    }
    defer { closedir(stream) }
    processes += 1
    let isOwn = Int32(process) == getpid()
    var isHidden = false
    defer { if isHidden { noteHidden(process, in: proc) } }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 && errno != ENOENT && errno != ESRCH { isHidden = true }
        return
      }
      guard let name = OpenFileIndex.name(of: entry), name != ".", name != ".." else { continue }
      do throws(SystemError) {
        let status = try FileStatus(directory: descriptors, name: name, followingSymlink: true)
        if status.kind != .other { identities.insert(status.identity) }
        if !isOwn { seesOthers = true }
      } catch {
        // Closed meanwhile, or on a file system that is gone. Where a sandbox permits the listing alone, every look at an entry is refused.
        if error.code == EACCES || error.code == EPERM { isHidden = true }
      }
    }
  }

  /// A process has files open that are not in the index.
  private mutating func noteHidden(_ process: String, in proc: Int32) {
    isComplete = false
    var status = stat()
    // The owner of a process that guards itself (setuid, ssh-agent) is root here.
    if fstatat(proc, process, &status, 0) == 0, status.st_uid == geteuid() { hidesOwn = true }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
    return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
  }
}
