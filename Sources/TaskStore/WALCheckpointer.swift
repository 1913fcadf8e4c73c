import Failpoints
import GRDB
import GRDBSQLite
import HostThreads
import TaskModel

/// Moves committed pages from the write-ahead log into the database, on a thread and a connection of its own, so that no dispatch waits
/// for it.
final class WALCheckpointer: Sendable {
  /// Pages written to the log between two checkpoints, as SQLite's own default.
  private static let pages = 1000
  private let progress = Progress()

  private final class Progress: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
    let monitor = Monitor()
    /// In the log, and when the last checkpoint began.
    var pages = 0
    var pagesBefore = 0
    var isOver = false
    var isServing = false

    /// After a commit, on the writing thread; the log has `count` pages now.
    func committed(_ count: Int) {
      monitor.locked {
        // All of the log was in the database, and it was begun anew.
        if count < pages { pagesBefore = 0 }
        pages = count
        if pages - pagesBefore >= WALCheckpointer.pages { monitor.signal() }
      }
    }
  }

  init(path: String) throws {
    var configuration = Configuration()
    configuration.label = "taskhost checkpoints"
    configuration.busyMode = .immediateError
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let progress = self.progress
    progress.isServing = true
    try HostThread.start("checkpoints") {
      while Self.wait(progress) {
        // A busy database is no error: the next round takes what this one left.
        Failpoint.beforeCheckpoint.hit()
        try? queue.inDatabase { database in _ = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(PASSIVE)") }
        Failpoint.afterCheckpoint.hit()
      }
      try? queue.close()
      progress.monitor.locked {
        progress.isServing = false
        progress.monitor.broadcast()
      }
    }
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
      while !progress.isOver, progress.pages - progress.pagesBefore < pages { progress.monitor.wait() }
      progress.pagesBefore = progress.pages
      return !progress.isOver
    }
  }
}
