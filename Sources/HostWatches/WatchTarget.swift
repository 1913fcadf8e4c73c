enum WatchTarget: Sendable, Hashable {
  case missing
  case directory(FileIdentity)
  /// A file, or anything else that is not a directory.
  case file(FileIdentity)
}
