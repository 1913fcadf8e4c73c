internal import Glibc

/// Which files processes had open, or were in, at one moment, as far as this process may know.
///
/// Without the privilege to trace other users' processes (CAP_SYS_PTRACE) it holds only those of its own user, and in a sandbox
/// perhaps only its own: the write lease that ``FileRemover`` asks the kernel for does not depend on it.
struct OpenFileIndex: Sendable {
  private var identities: Set<FileIdentity> = []
  /// Whether every process could be looked into. False also when /proc is not readable at all.
  private(set) var isComplete = true
  /// How many processes could be looked into.
  private(set) var processes = 0

  /// An index that knows of no open file and says so.
  static let unknown = OpenFileIndex(identities: [], isComplete: false)

  init(identities: Set<FileIdentity>, isComplete: Bool, processes: Int = 0) {
    self.identities = identities
    self.isComplete = isComplete
    self.processes = processes
  }

  /// Looks through all of /proc; takes about a millisecond for a hundred processes.
  ///
  /// - Parameter isCancelled: Asked once a process; when true, the index ends there, incomplete.
  static func current(isCancelled: () -> Bool = { false }) -> OpenFileIndex {
    var index = OpenFileIndex(identities: [], isComplete: true)
    let opened = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
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

  /// Whether at least this process itself was seen; without /proc nothing is known at all.
  var isUsable: Bool { processes > 0 }

  /// Whether some process had this file or directory open.
  func contains(_ identity: FileIdentity) -> Bool { identities.contains(identity) }

  private mutating func addProcess(_ process: String, in proc: Int32) {
    if let directory = try? FileStatus(directory: proc, name: "\(process)/cwd", followingSymlink: true) {
      identities.insert(directory.identity)
    }
    let descriptors = openat(proc, "\(process)/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptors >= 0, let stream = fdopendir(descriptors) else {
      // A process that ended meanwhile has nothing open; any other answer hides something.
      if errno != ENOENT && errno != ESRCH { isComplete = false }
      if descriptors >= 0 { close(descriptors) }
      return
    }
    defer { closedir(stream) }
    processes += 1
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 && errno != ENOENT && errno != ESRCH { isComplete = false }
        return
      }
      guard let name = OpenFileIndex.name(of: entry), name != ".", name != ".." else { continue }
      guard let status = try? FileStatus(directory: descriptors, name: name, followingSymlink: true) else { continue }
      if status.kind != .other { identities.insert(status.identity) }
    }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
    return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
  }
}
