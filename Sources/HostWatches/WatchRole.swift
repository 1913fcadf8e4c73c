import Glibc

/// Why an object is watched for a path, which decides the events that matter.
///
/// Of directories above a path's target, only their own removal is watched, so that activity in them does not wake the thread. For the last
/// two directories of a path, the name is watched too: a directory that a process works in does not report its own removal.
enum WatchRole: Sendable, Hashable {
  /// A directory on the way.
  case passage
  /// A directory in which the path continues with a name, which can be missing; `isLast` if nothing follows the name.
  case holder(of: String, isLast: Bool)
  /// A symbolic link on the way, or a file where a directory should be.
  case object
  case file
  case directory

  struct Effect: OptionSet {
    let rawValue: UInt8
    /// The path, or an entry of it, has changed.
    static let isChanged = Effect(rawValue: 1)
    /// The path must be followed again: it may lead elsewhere.
    static let isStale = Effect(rawValue: 2)
  }

  private static let ends = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
  private static let names = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
  private static let attributes = UInt32(IN_ATTRIB)
  private static let written = UInt32(IN_CLOSE_WRITE)

  var mask: UInt32 {
    switch self {
    case .passage: Self.ends
    case .holder: Self.ends | Self.names
    // A change of attributes includes a lost link, as when another file is moved over it.
    case .object: Self.ends | Self.attributes
    case .file: Self.ends | Self.attributes | Self.written
    case .directory: Self.ends | Self.names | Self.written
    }
  }

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
