/// What a host remembers about plugin files between launches, so that it need not read or probe a known file again.
///
/// It is a cache: losing it only costs time at the next launch.
public protocol PluginMemory: Sendable {
  /// The files seen by the last launches.
  func knownFiles() throws(StoreError) -> [KnownPluginFile]
  /// The verdicts of the last launches.
  func verdicts() throws(StoreError) -> [PluginVerdict]
  /// Replaces all files and verdicts in one commit.
  func remember(files: [KnownPluginFile], verdicts: [PluginVerdict]) throws(StoreError)
}

/// A file's digest, with the metadata that shows whether the file has changed.
public struct KnownPluginFile: Sendable, Hashable {
  /// Absolute path.
  public var path: String
  /// `st_dev`.
  public var device: UInt64
  /// `st_ino`.
  public var inode: UInt64
  /// Bytes.
  public var size: UInt64
  /// When the content last changed, in nanoseconds since 1970.
  public var modified: Int64
  /// When content, owner or mode last changed, in nanoseconds since 1970. A process cannot set it.
  public var changed: Int64
  /// SHA-256 of the content, 32 bytes.
  public var digest: [UInt8]

  /// Creates a file.
  public init(path: String, device: UInt64, inode: UInt64, size: UInt64, modified: Int64, changed: Int64, digest: [UInt8]) {
    self.path = path
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
    self.digest = digest
  }
}

/// The result of launching a file's content under certain settings.
public struct PluginVerdict: Sendable, Hashable {
  /// SHA-256 of the content, 32 bytes.
  public var digest: [UInt8]
  /// A digest of everything else that the verdict depends on (settings, limits, entitlements, the host's build): 32 bytes.
  public var circumstances: [UInt8]
  /// The registrations, encoded by the host.
  public var registrations: [UInt8]

  /// Creates a verdict.
  public init(digest: [UInt8], circumstances: [UInt8], registrations: [UInt8]) {
    self.digest = digest
    self.circumstances = circumstances
    self.registrations = registrations
  }
}
