import Glibc

/// Why something is watched for a path, and so which of its events matter.
///
/// A directory above what a path leads to is asked for nothing but its own end, so that what others do in it wakes nobody. The last two
/// directories of a path are asked for the one name too: a directory that somebody works in does not tell its own removal.
enum WatchRole: Sendable, Hashable {
  /// A directory on the way.
  case passage
  /// A directory in which the path goes on with a name, which may be missing; `isLast`: nothing follows the name.
  case holder(of: String, isLast: Bool)
  /// A symbolic link on the way, or a file where a directory should be.
  case object
  /// The file that the path leads to.
  case file
  /// The directory that the path leads to.
  case directory

  /// What of an event follows for the path.
  struct Effect: OptionSet {
    let rawValue: UInt8
    /// The path, or an entry of it, is not what it was.
    static let isChanged = Effect(rawValue: 1)
    /// The path must be looked at again: it may lead elsewhere.
    static let isStale = Effect(rawValue: 2)
  }

  private static let ends = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
  private static let names = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
  private static let attributes = UInt32(IN_ATTRIB)
  private static let written = UInt32(IN_CLOSE_WRITE)

  /// What the kernel is asked to tell.
  var mask: UInt32 {
    switch self {
    case .passage: Self.ends
    case .holder: Self.ends | Self.names
    // A change of attributes: one link less, as when another file is moved over it.
    case .object: Self.ends | Self.attributes
    case .file: Self.ends | Self.attributes | Self.written
    case .directory: Self.ends | Self.names | Self.written
    }
  }

  /// What `event` means for a path that something is watched for in this role.
  func effect(of event: FileEvent) -> Effect {
    let isEnd = event.isEnd || event.has(UInt32(IN_UNMOUNT)) || event.has(Self.ends)
    switch self {
    case .passage: return isEnd ? .isStale : []
    case .object: return isEnd || event.has(Self.attributes) ? .isStale : []
    case .holder(let name, let isLast):
      if isEnd { return .isStale }
      guard event.has(Self.names), event.name == name else { return [] }
      return isLast ? [.isStale, .isChanged] : .isStale
    case .file:
      if isEnd { return [.isStale, .isChanged] }
      if event.has(Self.written) { return event.has(Self.attributes) ? [.isStale, .isChanged] : .isChanged }
      return event.has(Self.attributes) ? .isStale : []
    case .directory:
      if isEnd { return [.isStale, .isChanged] }
      return event.has(Self.names | Self.written) ? .isChanged : []
    }
  }
}
