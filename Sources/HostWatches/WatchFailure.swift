import Glibc

/// A watch that could not be set up.
public struct WatchFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What it watches: `the clock` or `files`.
  public let subject: String
  /// What failed.
  public let step: String
  /// Its `errno`.
  public let code: Int32

  /// What happened and what to do.
  public var description: String { "\(subject) cannot be watched: \(step): \(String(cString: strerror(code))); \(remedy)" }

  private var remedy: String {
    switch code {
    case EMFILE where step == Self.inotify: "raise fs.inotify.max_user_instances (sysctl) or the limit of open files"
    case EMFILE: "raise the limit of open files"
    case EAGAIN: "raise the limit of threads"
    case ENOSYS, EPERM, EINVAL: "the kernel, or a filter of system calls, does not allow it"
    default: "free memory or descriptors"
    }
  }

  static let inotify = "inotify_init1"
}
