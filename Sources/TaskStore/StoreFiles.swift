import Glibc
import HostThreads
public import TaskModel

/// The files of a store that is open. What was deleted or replaced meanwhile is still written and lost with the last descriptor: so each
/// commit asks first whether the paths still lead to the files that were opened.
public final class StoreFiles: Sendable {
  private struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// The database's path; its log and its index are beside it.
  public let path: String
  private let opened: Guarded<[String: Identity]>

  /// The files as they are now: the store has just been opened.
  init(path: String) {
    self.path = path
    var found: [String: Identity] = [:]
    for file in Self.files(path) { if case .found(let identity) = Self.look(file) { found[file] = identity } }
    opened = Guarded(found)
  }

  /// The paths to watch.
  public var watched: Set<String> { Set(Self.files(path)) }

  private static func files(_ path: String) -> [String] { [path, path + "-wal", path + "-shm"] }

  /// Why the store is not what was opened; nil: it is. From any thread; takes a few microseconds.
  public func check() -> StoreError? {
    opened.withLock { opened in
      for file in Self.files(path) {
        switch (Self.look(file), opened[file]) {
        case (.found(let identity), let known?):
          guard identity != known else { continue }
          return .replaced("\(file) is another file now")
        // SQLite made it since.
        case (.found(let identity), nil): opened[file] = identity
        case (.missing, .some): return .replaced("\(file) is gone")
        // What cannot be looked at is no sign of loss: the commit finds out.
        case (.missing, nil), (.unknown, _): continue
        }
      }
      return nil
    }
  }

  private enum Look {
    case found(Identity)
    case missing
    case unknown
  }

  private static func look(_ file: String) -> Look {
    var status = stat()
    guard lstat(file, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .unknown }
    return .found(Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
  }
}
