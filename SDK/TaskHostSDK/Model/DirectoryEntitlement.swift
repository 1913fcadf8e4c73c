/// How far the operator lets a plugin reach a directory: see ``LaunchContext/entitlement(to:)``.
public enum DirectoryEntitlement: Sendable, Equatable {
  /// Not at all.
  case none
  /// It may read there.
  case read
  /// It may read and write there.
  case write
}
