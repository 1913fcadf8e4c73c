import GRDB
import HostThreads
import TaskModel

/// Moves committed pages from the write-ahead log into the database, on a thread and a connection of its own, so that no dispatch waits
/// for it.
final class WALCheckpointer: Sendable {
  /// Commits between two checkpoints; SQLite's own default is 1,000 pages, which is about as much.
  private static let commits = 500
  private let progress = Progress()

  private final class Progress: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
    let monitor = Monitor()
    var commits = 0
    var isOver = false
    var isServing = false
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
        try? queue.inDatabase { database in _ = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(PASSIVE)") }
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

  /// After each commit, on the writing thread.
  func committed() {
    progress.monitor.locked {
      progress.commits += 1
      if progress.commits >= Self.commits { progress.monitor.signal() }
    }
  }

  /// Returns whether a checkpoint is due; false: the store is closed.
  private static func wait(_ progress: Progress) -> Bool {
    progress.monitor.locked {
      while !progress.isOver, progress.commits < commits { progress.monitor.wait() }
      progress.commits = 0
      return !progress.isOver
    }
  }
}
