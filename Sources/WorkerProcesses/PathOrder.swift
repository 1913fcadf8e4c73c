/// How absolute paths without links lie to each other.
public enum PathOrder {
  /// Whether `path` is below `folder`, and not the same.
  public static func isBelow(_ path: String, _ folder: String) -> Bool {
    folder == "/" ? path != "/" : path.utf8.count > folder.utf8.count && path.hasPrefix(folder + "/")
  }
}
