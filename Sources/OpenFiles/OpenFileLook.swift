import COpenFiles
import Glibc
import HostThreads
public import TaskModel

/// Finds out which files are open: through /proc, and if that does not show every process, by asking the kernel for a lease on each file.
/// Takes time in proportion to the number of processes and open files. Any thread.
public enum OpenFileLook {
  private struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  /// The files in question that a scan of /proc found open.
  private final class Findings {
    let wanted: Set<Identity>
    var open: Set<Identity> = []
    init(_ wanted: Set<Identity>) { self.wanted = wanted }
  }

  /// Answers for files below `directory`, in the same order.
  ///
  /// - Parameter looked: Called with the duration of the scan of /proc, which is the same for one file as for many.
  /// - Throws: `notFound` if the directory does not exist, or its path leads through a symlink.
  public static func answer(
    _ files: [FileQuestion], in directory: String, looked: (Duration) -> Void = { _ in }
  ) throws(CallFailure) -> [FileUse] {
    let top = taskhost_open_files_directory(directory)
    guard top >= 0 else { throw failure(-top, directory) }
    defer { close(top) }
    let findings = Findings(Set(files.map { Identity(device: $0.device, inode: $0.inode) }))
    let began = SystemClock.now
    let isComplete = taskhost_open_files_scan(
      { context, device, inode in
        guard let context else { return }
        let findings = Unmanaged<Findings>.fromOpaque(context).takeUnretainedValue()
        let identity = Identity(device: device, inode: inode)
        if findings.wanted.contains(identity) { findings.open.insert(identity) }
      }, Unmanaged.passUnretained(findings).toOpaque())
    looked(SystemClock.now - began)
    let folder = OpenFolder(below: top)
    return withExtendedLifetime(findings) {
      files.map { file in
        use(of: file, folder, isOpen: findings.open.contains(Identity(device: file.device, inode: file.inode)), isComplete)
      }
    }
  }

  /// Files outside the directory must not be disclosed: they count as not open.
  private static func use(of file: FileQuestion, _ folder: OpenFolder, isOpen: Bool, _ isComplete: Bool) -> FileUse {
    if isComplete, !isOpen { return .notOpen }
    let found = folder.withEntry(file.path) { descriptor, name -> FileUse in
      if isOpen, taskhost_open_files_is(descriptor, name, file.device, file.inode) { return .open }
      if isComplete { return .notOpen }
      switch taskhost_open_files_lease(descriptor, name, file.device, file.inode) {
      case 0: return .notOpen
      case 1: return .open
      default: return .unknown
      }
    }
    return found ?? (isComplete ? .notOpen : .unknown)
  }

  private static func failure(_ code: Int32, _ directory: String) -> CallFailure {
    let reason = String(cString: strerror(code))
    let shown = directory.escapingControlCharacters
    switch code {
    case ENOENT: return CallFailure(.notFound, "\(shown) does not exist")
    case ELOOP, ENOTDIR: return CallFailure(.notFound, "\(shown) is not a directory, or its path leads through a symlink")
    case ENOSYS, EPERM: return CallFailure(.unavailable, "this kernel has no openat2 (Linux 5.6), which a look at open files needs")
    default: return CallFailure(.unavailable, "\(shown) cannot be opened: \(reason)")
    }
  }
}
