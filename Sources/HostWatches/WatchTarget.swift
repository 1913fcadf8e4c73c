/// What a path leads to.
enum WatchTarget: Sendable, Hashable {
  /// Nothing.
  case missing
  case directory(FileIdentity)
  /// A file, or anything else that is no directory.
  case file(FileIdentity)
}
