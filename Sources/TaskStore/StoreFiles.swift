import Glibc
import HostThreads
public import TaskModel

/// The files of a store that is open. What was deleted or replaced meanwhile is still written and lost with the last descriptor; what was
/// cut short is written with a hole in it. So each commit asks first whether the paths still lead to the files that were opened, and
/// whether these are as long as they were; afterwards it asks whether the log still has what was there before.
///
/// The database never shrinks, and the log never below ``logLimit``, until the store is closed.
public final class StoreFiles: Sendable {
  /// The log's greatest size when it is begun anew, in bytes.
  static let logLimit: Int64 = 64 << 20
  /// Of the log, in bytes: its header, and what is before each page.
  private static let (headerSize, frameHeaderSize): (Int64, Int64) = (32, 24)

  private struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  private struct File {
    let path: String
    /// It never shrinks below that by the host's own doing, in bytes.
    let limit: Int64
    /// nil if SQLite has not made it yet.
    var identity: Identity?
    /// The size that it had, at most `limit`.
    var size: Int64 = 0

    init(_ path: String, limit: Int64) {
      self.path = path
      self.limit = limit
      _ = look()
    }

    /// Why it is not what it was; nil if it is, or that cannot be told.
    mutating func look() -> StoreError? {
      var status = stat()
      guard lstat(path, &status) == 0 else {
        // What cannot be looked at is no sign of loss: the commit finds out.
        guard identity != nil, errno == ENOENT || errno == ENOTDIR else { return nil }
        return .replaced("\(path) is gone")
      }
      let found = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      let known = identity ?? found
      guard found == known else { return .replaced("\(path) is another file now") }
      let present = Int64(status.st_size)
      guard present >= size else { return .cut("\(path) has \(present) bytes, and had \(size)") }
      identity = found
      size = min(present, limit)
      return nil
    }
  }

  private struct State {
    var database: File
    var log: File
    var index: File
    /// What became of the index when it was last looked at.
    var indexTrouble: StoreError?
    /// A file was cut short: what it had is lost, whatever it is now.
    var cut: StoreError?
    /// Pages in the log after the commit before; 0: there was none.
    var logPages: Int64 = 0
    /// The log, to read in; -1: it cannot be read.
    var logDescriptor: Int32

    mutating func look() -> StoreError? {
      if let cut { return cut }
      guard let trouble = database.look() ?? log.look() ?? indexTrouble else { return nil }
      if case .cut = trouble { cut = trouble }
      return trouble
    }
  }

  /// The database's path; its log and its index are beside it.
  public let path: String
  private let pageSize: Int64
  private let state: Guarded<State>

  /// The files as they are now: the store has just been opened.
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

  /// Why the store is not what was opened; nil if it is. From any thread; takes a few microseconds.
  public func check() -> StoreError? {
    state.withLock { state in
      state.indexTrouble = state.index.look()
      return state.look()
    }
  }

  /// As ``check()``, before each commit: of the index, what the last look at it found.
  func checkBeforeCommit() -> StoreError? { state.withLock { $0.look() } }

  /// After each commit, on the writing thread: a log that was cut short after the look before it has a hole now, and is as long as ever.
  ///
  /// - Parameter pages: In the log now.
  /// - Returns: Why what was committed is lost; nil if it is not.
  func checkAfterCommit(logPages pages: Int) -> StoreError? {
    let pages = Int64(pages)
    return state.withLock { state in
      let before = state.logPages
      state.logPages = pages
      // The last page that was there before; of a log that was begun anew, its header. Neither begins with zeros.
      let place = pages > before && before > 0 ? Self.headerSize + (before - 1) * (Self.frameHeaderSize + pageSize) : 0
      var word: UInt32 = 0
      let count = pread(state.logDescriptor, &word, 4, off_t(place))
      guard count >= 0, count < 4 || word == 0 else { return nil }
      let cut = StoreError.cut("\(state.log.path) has nothing at byte \(place), where something was")
      state.cut = state.cut ?? cut
      return cut
    }
  }

  /// The store is about to be closed, which empties the log.
  func end() {
    state.withLock { state in state.log = File(state.log.path, limit: 0) }
  }
}
