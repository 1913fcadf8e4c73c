/// What a host remembers of plugin files between launches, so that a file it knows is neither read nor probed again.
///
/// It is a cache: losing it costs time at the next launch, nothing else.
public protocol PluginMemory: Sendable {
  /// The files seen at the last launches.
  func knownFiles() throws(StoreError) -> [KnownPluginFile]
  /// The verdicts of the last launches.
  func verdicts() throws(StoreError) -> [PluginVerdict]
  /// Replaces everything that is remembered, in one commit.
  func remember(files: [KnownPluginFile], verdicts: [PluginVerdict]) throws(StoreError)
}

/// A file with the marks by which the system tells that it is unchanged, and the digest of its content.
public struct KnownPluginFile: Sendable, Hashable {
  /// Absolute path.
  public var path: String
  /// The device it is on.
  public var device: UInt64
  /// Its number on that device.
  public var inode: UInt64
  /// Bytes.
  public var size: UInt64
  /// Content last changed, nanoseconds since 1970.
  public var modified: Int64
  /// Content, owner or mode last changed, nanoseconds since 1970; a process cannot set it.
  public var changed: Int64
  /// SHA-256 of its content, 32 bytes.
  public var digest: [UInt8]

  /// A file as given.
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

/// What came of launching a file's content under certain settings.
public struct PluginVerdict: Sendable, Hashable {
  /// SHA-256 of the content, 32 bytes.
  public var digest: [UInt8]
  /// Of everything else that the verdict depends on (settings, limits, entitlements, the host's build): 32 bytes.
  public var circumstances: [UInt8]
  /// What it registered, as the host encodes it.
  public var registrations: [UInt8]

  /// A verdict as given.
  public init(digest: [UInt8], circumstances: [UInt8], registrations: [UInt8]) {
    self.digest = digest
    self.circumstances = circumstances
    self.registrations = registrations
  }
}
