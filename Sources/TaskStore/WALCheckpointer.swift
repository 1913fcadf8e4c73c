import Failpoints
import GRDB
import GRDBSQLite
import HostThreads
import TaskModel

/// Moves committed pages from the write-ahead log into the database, on a thread and a connection of its own, so that no dispatch waits
/// for it.
final class WALCheckpointer: Sendable {
  /// Pages written to the log between two checkpoints: as SQLite's own default, or four commits as large as the last, up to 32 MB. A page
  /// that is changed again before a checkpoint is moved once, and an array of 1,000 requests that are due at random changes as many pages;
  /// while commits are small, a log that stays small is overwritten in place, which costs a sync less than a file that grows.
  private static let pages = 1000...8000
  /// From so many on, 128 MB, who writes waits for a checkpoint: a log that is never wholly in the database is never begun anew.
  private static let most = 32_768
  /// For no longer than that.
  private static let patience = Duration.seconds(2)
  private let progress = Progress()

  private final class Progress: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
    let monitor = Monitor()
    /// In the log, and when the last checkpoint began.
    var pages = 0
    var pagesBefore = 0
    /// Pages between two checkpoints now.
    private var pagesBetween = WALCheckpointer.pages.lowerBound
    var isOver = false
    var isServing = false
    /// Whether who writes waits for a checkpoint.
    private var isPressing = false
    /// Checkpoints that have begun, and that have ended.
    private var (begun, ended) = (0, 0)

    /// After a commit, on the writing thread; the log has `count` pages now.
    func committed(_ count: Int) {
      monitor.locked {
        // All of the log was in the database, and it was begun anew.
        if count < pages { (pages, pagesBefore) = (0, 0) }
        let range = WALCheckpointer.pages
        pagesBetween = min(max(4 * (count - pages), range.lowerBound), range.upperBound)
        pages = count
        if count >= WALCheckpointer.most { waitForCheckpoint() } else if isDue { monitor.broadcast() }
      }
    }

    /// With `monitor` held: whether it is time for a checkpoint.
    var isDue: Bool { isPressing || pages - pagesBefore >= pagesBetween }

    /// With `monitor` held: waits for one that begins now, with nothing written meanwhile.
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
      isPressing = false
    }

    /// A checkpoint has ended.
    func end() {
      monitor.locked {
        ended += 1
        monitor.broadcast()
      }
    }
  }

  /// - Parameters:
  ///   - sums: The checksums of the database's pages; nil if there are none.
  ///   - mayBegin: Asked on its thread before each checkpoint: what a log has that was cut short must not reach the database.
  ///   - done: Called on its thread after each checkpoint.
  init(path: String, sums: PageSums?, mayBegin: @escaping @Sendable () -> Bool, done: @escaping @Sendable () -> Void) throws {
    var configuration = Configuration()
    configuration.label = "taskhost checkpoints"
    configuration.busyMode = .immediateError
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    configuration.label = "taskhost snapshot"
    let snapshot = try DatabaseQueue(path: path, configuration: configuration)
    let progress = self.progress
    progress.isServing = true
    try HostThread.start("checkpoints") {
      while Self.wait(progress) {
        // A busy database is no error: the next round takes what this one left.
        Failpoint.beforeCheckpoint.hit()
        if mayBegin() { try? Self.checkpoint(queue, snapshot, log: path + "-wal", sums) }
        Failpoint.afterCheckpoint.hit()
        done()
        progress.end()
      }
      try? queue.close()
      try? snapshot.close()
      progress.monitor.locked {
        progress.isServing = false
        progress.monitor.broadcast()
      }
    }
  }

  /// Moves pages into the database, and takes their checksums.
  ///
  /// A snapshot is held meanwhile, so that the checkpoint goes no further than the log that was looked at, and the log is not begun anew.
  private static func checkpoint(_ queue: DatabaseQueue, _ snapshot: DatabaseQueue, log: String, _ sums: PageSums?) throws {
    // Whether all of the log is in the database: only then SQLite has synced it.
    func checkpoint() throws -> Bool {
      try queue.inDatabase { database in
        guard let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(PASSIVE)") else { return false }
        let (busy, frames, moved): (Int?, Int?, Int?) = (row[0], row[1], row[2])
        return busy == 0 && frames != nil && frames == moved
      }
    }
    guard let sums else {
      _ = try checkpoint()
      return
    }
    // Most of the work, before anything is held.
    let most = WALPages(log)
    if let most { sums.willChange(most.numbers) }
    var changed: Set<UInt32> = []
    var isSynced = false
    try snapshot.inTransaction(.deferred) { database in
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
      guard let all = WALPages(log, since: most) else { throw StoreError.other("\(log) is no log") }
      let rest = all.numbers.subtracting(most?.numbers ?? [])
      if !rest.isEmpty { sums.willChange(rest) }
      changed = all.numbers
      isSynced = try checkpoint()
      return .commit
    }
    sums.haveChanged(changed.union(most?.numbers ?? []), isSynced: isSynced)
  }

  deinit { stop() }

  /// Ends the thread; its connection is closed once a checkpoint in progress is done.
  func stop() {
    progress.monitor.locked {
      progress.isOver = true
      progress.monitor.broadcast()
      while progress.isServing { progress.monitor.wait() }
    }
  }

  /// Pages in the log after the last commit; 0: there was none.
  var logPages: Int { progress.monitor.locked { progress.pages } }

  /// Counts what each commit of the writing connection adds to the log. The connection is closed before the checkpointer goes.
  func observe(_ connection: OpaquePointer?) {
    sqlite3_wal_hook(
      connection,
      { context, _, _, pages in
        guard let context else { return SQLITE_OK }
        Unmanaged<Progress>.fromOpaque(context).takeUnretainedValue().committed(Int(pages))
        return SQLITE_OK
      }, Unmanaged.passUnretained(progress).toOpaque())
  }

  /// Returns whether a checkpoint is due; false: the store is closed.
  private static func wait(_ progress: Progress) -> Bool {
    progress.monitor.locked {
      while !progress.isOver, !progress.isDue { progress.monitor.wait() }
      guard !progress.isOver else { return false }
      progress.begin()
      return true
    }
  }
}
