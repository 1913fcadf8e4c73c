import Glibc

/// Paths without links.
public enum RealPath {
  /// The absolute path of what `path` leads to, without links, `.` and `..`; nil if nothing is there, with the reason in `errno`.
  public static func of(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
