/// A plugin's entitlement to a directory: see ``LaunchContext/entitlement(to:)``.
public enum DirectoryEntitlement: Sendable, Equatable {
  /// No access.
  case none
  /// Reading is allowed.
  case read
  /// Reading and writing are allowed.
  case write
}
