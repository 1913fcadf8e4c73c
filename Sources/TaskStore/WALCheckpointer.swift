import Failpoints
import GRDB
import GRDBSQLite
import HostThreads
import TaskModel

/// Moves committed pages from the write-ahead log into the database, on its own thread and connection, so that a dispatch does not wait for
/// it.
final class WALCheckpointer: Sendable {
  /// The number of pages that are written to the log between two checkpoints: four times the last commit, at least SQLite's default, at
  /// most 32 MB. A page that changes several times before a checkpoint is moved once, and an array of 1,000 requests with random due times
  /// changes as many pages. With small commits, a short log is overwritten in place, which saves one sync compared with a growing file.
  private static let pages = 1000...8000
  /// Above 128 MB, writers wait for a checkpoint, because a log restarts only when all of it is in the database.
  private static let most = 32_768
  /// The maximum time that a writer waits.
  private static let patience = Duration.seconds(2)
  private let progress = Progress()

  private final class Progress: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
    let monitor = Monitor()
    /// The number of pages in the log, now and when the last checkpoint began.
    var pages = 0
    var pagesBefore = 0
    /// The current number of pages between two checkpoints.
    private var pagesBetween = WALCheckpointer.pages.lowerBound
    var isOver = false
    var isServing = false
    /// Whether a writer waits for a checkpoint, and whether one waited for the last checkpoint that began.
    private var (isPressing, wasPressed) = (false, false)
    /// Whether the last checkpoint left pages in the log that were written meanwhile.
    private var hasRest = false
    /// The numbers of checkpoints that have begun and ended.
    private var (begun, ended) = (0, 0)

    /// Called after a commit on the writing thread; the log now has `count` pages.
    func committed(_ count: Int) {
      monitor.locked {
        // All of the log was in the database, so the log restarted.
        if count < pages { (pages, pagesBefore) = (0, 0) }
        let range = WALCheckpointer.pages
        pagesBetween = min(max(4 * (count - pages), range.lowerBound), range.upperBound)
        pages = count
        // While writers go on, a checkpoint never reaches the end of the log, and the log would grow instead of being overwritten in
        // place. So a writer waits once for the few pages that are left.
        if count >= WALCheckpointer.most || hasRest {
          // Once, even if the checkpoint takes longer than a writer waits.
          hasRest = false
          waitForCheckpoint()
        } else if isDue {
          monitor.broadcast()
        }
      }
    }

    /// With `monitor` held: whether it is time for a checkpoint.
    var isDue: Bool { isPressing || pages - pagesBefore >= pagesBetween }

    /// With `monitor` held: waits for a checkpoint that begins now, while nothing is written.
    private func waitForCheckpoint() {
      let awaited = begun + 1
      let deadline = SystemClock.now + WALCheckpointer.patience
      isPressing = true
      monitor.broadcast()
      while ended < awaited, !isOver, isServing { if !monitor.wait(until: deadline) { break } }
      isPressing = false
    }

    /// With `monitor` held: a checkpoint begins.
    func begin() {
      pagesBefore = pages
      begun += 1
      (isPressing, wasPressed) = (false, isPressing)
    }

    /// A checkpoint has ended.
    ///
    /// - Parameter moved: The number of pages in the log that are in the database; nil if it failed. If one for which a writer waited leaves
    ///   pages too, a reader was in its way.
    func end(moved: Int?) {
      monitor.locked {
        ended += 1
        hasRest = !wasPressed && moved.map { $0 < pages } ?? false
        monitor.broadcast()
      }
    }
  }

  /// - Parameters:
  ///   - sums: The checksums of the database's pages; nil if there are none.
  ///   - mayBegin: Called on the thread before each checkpoint; false skips it. The content of a truncated log must not reach the database.
  ///   - changed: Called on the thread with the error when checkpoints start to fail, and with nil when one succeeds again.
  ///   - done: Called on the thread after each checkpoint.
  init(
    path: String, sums: PageSums?, mayBegin: @escaping @Sendable () -> Bool, changed: @escaping @Sendable (StoreError?) -> Void,
    done: @escaping @Sendable () -> Void
  ) throws {
    var configuration = Configuration()
    configuration.label = "taskhost checkpoints"
    configuration.busyMode = .immediateError
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    configuration.label = "taskhost snapshot"
    let snapshot = try DatabaseQueue(path: path, configuration: configuration)
    let progress = self.progress
    progress.isServing = true
    try HostThread.start("checkpoints") {
      var isFailing = false
      var left: WALPages?
      while Self.wait(progress) {
        var moved: Int?
        Failpoint.beforeCheckpoint.hit()
        if mayBegin() {
          let failure = Self.failure { moved = try Self.checkpoint(queue, snapshot, log: path + "-wal", sums, left: &left) }
          if (failure != nil) != isFailing {
            isFailing.toggle()
            changed(failure)
          }
        }
        Failpoint.afterCheckpoint.hit()
        progress.end(moved: moved)
        done()
      }
      try? queue.close()
      try? snapshot.close()
      progress.monitor.locked {
        progress.isServing = false
        progress.monitor.broadcast()
      }
    }
  }

  /// Why a checkpoint failed; nil if it did not. A busy database is not a failure: the next checkpoint moves the rest.
  private static func failure(_ checkpoint: () throws -> Void) -> StoreError? {
    do {
      try checkpoint()
      return nil
    } catch {
      let error = StoreError(error)
      if case .locked = error { return nil }
      return error
    }
  }

  /// Moves pages into the database and records their checksums.
  ///
  /// Holds a snapshot meanwhile, so that the checkpoint moves only pages that were read from the log, and the log does not restart.
  ///
  /// - Parameter left: The pages of the log that earlier checkpoints have not moved, and how far the log was read.
  /// - Returns: The number of the log's pages that are in the database.
  private static func checkpoint(
    _ queue: DatabaseQueue, _ snapshot: DatabaseQueue, log: String, _ sums: PageSums?, left: inout WALPages?
  ) throws -> Int {
    // It counts the pages that were in the log when it began; those written meanwhile stay there.
    func checkpoint() throws -> (isComplete: Bool, moved: Int, frames: Int) {
      try queue.inDatabase { database in
        guard let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(PASSIVE)") else { return (false, 0, 0) }
        let (busy, frames, moved): (Int?, Int?, Int?) = (row[0], row[1], row[2])
        return (busy == 0 && frames != nil && frames == moved, moved ?? 0, frames ?? 0)
      }
    }
    guard let sums else { return try checkpoint().moved }
    // Does most of the work before the snapshot is held.
    let most = WALPages(log, since: left)
    if let most { sums.willChange(most.numbers) }
    var changed = most?.numbers ?? []
    var result = (isComplete: false, moved: 0, frames: 0)
    try snapshot.inTransaction(.deferred) { database in
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
      guard var all = WALPages(log, since: most) else { throw StoreError.other("\(log) is not a log") }
      let rest = all.numbers.subtracting(changed)
      if !rest.isEmpty { sums.willChange(rest) }
      changed.formUnion(all.numbers)
      result = try checkpoint()
      all.moved(result.moved, of: result.frames)
      left = all
      return .commit
    }
    sums.haveChanged(changed, isComplete: result.isComplete)
    return result.moved
  }

  deinit { stop() }

  /// Ends the thread and waits for it. The connections close after a checkpoint in progress.
  func stop() {
    progress.monitor.locked {
      progress.isOver = true
      progress.monitor.broadcast()
      while progress.isServing { progress.monitor.wait() }
    }
  }

  /// The number of pages in the log after the last commit; 0 before the first.
  var logPages: Int { progress.monitor.locked { progress.pages } }

  /// Counts the pages that each commit of the writing connection adds to the log. The connection must be closed before the checkpointer
  /// ends.
  func observe(_ connection: OpaquePointer?) {
    sqlite3_wal_hook(
      connection,
      { context, _, _, pages in
        guard let context else { return SQLITE_OK }
        Unmanaged<Progress>.fromOpaque(context).takeUnretainedValue().committed(Int(pages))
        return SQLITE_OK
      }, Unmanaged.passUnretained(progress).toOpaque())
  }

  /// Returns true when a checkpoint is due, false when the store is closed.
  private static func wait(_ progress: Progress) -> Bool {
    progress.monitor.locked {
      while !progress.isOver, !progress.isDue { progress.monitor.wait() }
      guard !progress.isOver else { return false }
      progress.begin()
      return true
    }
  }
}
