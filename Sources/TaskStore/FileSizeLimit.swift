import Glibc

/// The maximum size of files that this process writes (`RLIMIT_FSIZE` of getrlimit(2)).
public enum FileSizeLimit {
  /// The limit in bytes; nil if there is none.
  public static var bytes: UInt64? {
    var limits = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0, limits.rlim_cur != rlim_t.max else { return nil }
    return UInt64(limits.rlim_cur)
  }

  /// The remedy, for error messages.
  public static let remedy = "raise the limit (ulimit -f, LimitFSIZE=)"
}
