import CTaskHostSystem
import Glibc
import HostThreads
public import TaskModel

/// The files of an open store. Writes to a deleted or replaced file are lost with the last descriptor; writes to a truncated file leave a
/// hole. Before each commit, the store therefore checks that the paths still lead to the opened files and that the files have not shrunk.
/// After the commit, it checks that the log still has its earlier content.
///
/// Until the store is closed, the database never shrinks, and the log never shrinks below ``logLimit``.
public final class StoreFiles: Sendable {
  /// The log's maximum size after it restarts, in bytes.
  static let logLimit: Int64 = 64 << 20
  /// The sizes of the log's header and of each frame's header, in bytes.
  private static let (headerSize, frameHeaderSize): (Int64, Int64) = (32, 24)

  private struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  private struct File {
    let path: String
    /// The host itself never shrinks the file below this size, in bytes.
    let limit: Int64
    /// Nil if SQLite has not created the file yet.
    var identity: Identity?
    /// The last known size, at most `limit`.
    var size: Int64 = 0

    init(_ path: String, limit: Int64) {
      self.path = path
      self.limit = limit
      _ = look()
    }

    /// Why the file is not the opened one; nil if it is, or if that is unknown.
    mutating func look() -> StoreError? {
      var file = taskhost_system_file()
      guard taskhost_system_look(path, &file) == 0 else {
        // A file that cannot be examined does not prove a loss: the commit will show.
        guard identity != nil, errno == ENOENT || errno == ENOTDIR else { return nil }
        return .replaced("\(path) is gone")
      }
      let found = Identity(device: file.device, inode: file.inode)
      let known = identity ?? found
      guard found == known else { return .replaced("\(path) is now another file") }
      guard file.size >= size else { return .cut("\(path) has \(file.size) bytes; it had \(size)") }
      identity = found
      size = min(file.size, limit)
      return nil
    }
  }

  private struct State {
    var database: File
    var log: File
    var index: File
    /// The error of the index at the last check.
    var indexTrouble: StoreError?
    /// Set once a file was truncated: its content is lost, whatever its size is now.
    var cut: StoreError?
    /// The number of pages in the log after the previous commit; 0 before the first.
    var logPages: Int64 = 0
    /// A descriptor for reading the log; -1 if it cannot be read.
    var logDescriptor: Int32

    mutating func look() -> StoreError? {
      if let cut { return cut }
      guard let trouble = database.look() ?? log.look() ?? indexTrouble else { return nil }
      if case .cut = trouble { cut = trouble }
      return trouble
    }
  }

  /// The path of the database. The log and the index are beside it.
  public let path: String
  private let pageSize: Int64
  private let state: Guarded<State>

  /// Records the files of a store that has just been opened.
  init(path: String, pageSize: Int) {
    self.path = path
    self.pageSize = Int64(pageSize)
    state = Guarded(
      State(
        database: File(path, limit: .max), log: File(path + "-wal", limit: Self.logLimit), index: File(path + "-shm", limit: 0),
        logDescriptor: open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)))
  }

  deinit {
    let descriptor = state.withLock { $0.logDescriptor }
    if descriptor >= 0 { close(descriptor) }
  }

  /// The paths to watch.
  public var watched: Set<String> { [path, path + "-wal", path + "-shm"] }

  /// Why the store's files are not those that were opened; nil if they are. Any thread may call it; it takes a few microseconds.
  public func check() -> StoreError? {
    state.withLock { state in
      state.indexTrouble = state.index.look()
      return state.look()
    }
  }

  /// Like ``check()``, but with the index's error from the last check. Called before each commit.
  func checkBeforeCommit() -> StoreError? { state.withLock { $0.look() } }

  /// Called after each commit on the writing thread. A log that was truncated between the check before the commit and the commit now has a
  /// hole, although its size is right.
  ///
  /// - Parameter pages: The number of pages in the log now.
  /// - Returns: Why the commit is lost; nil if it is not.
  func checkAfterCommit(logPages pages: Int) -> StoreError? {
    let pages = Int64(pages)
    return state.withLock { state in
      let before = state.logPages
      state.logPages = pages
      // The last page of the previous commit, or the header of a restarted log. Neither starts with zeros.
      let place = pages > before && before > 0 ? Self.headerSize + (before - 1) * (Self.frameHeaderSize + pageSize) : 0
      var word: UInt32 = 0
      let count = pread(state.logDescriptor, &word, 4, off_t(place))
      guard count >= 0, count < 4 || word == 0 else { return nil }
      let cut = StoreError.cut("\(state.log.path) has zeros at byte \(place), where data was")
      state.cut = state.cut ?? cut
      return cut
    }
  }

  /// Ends the checks of the log's size before the store is closed, which empties the log.
  func end() {
    state.withLock { state in state.log = File(state.log.path, limit: 0) }
  }
}
