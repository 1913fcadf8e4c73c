import Glibc
import HostThreads
import HostWatches
import Logging
import TaskModel
import TaskStore

/// Watches the files that a host has launched from: plugins whose file is gone, a store whose files were deleted, replaced or cut short, and
/// the lock of its state directory.
final class LaunchedFiles: Sendable {
  private let plugins: [String: [TaskIdentifier]]
  private let directory: StateDirectory
  private let store: StoreFiles
  private let board: ProblemBoard
  private let log: Logger
  private let watches = Guarded<FileWatches?>(nil)
  /// Damaged pages that are already logged.
  private let damagedPages = Guarded(0)

  /// Starts watching. A file that cannot be watched becomes a problem on the board.
  ///
  /// - Parameter plugins: The identifiers that each file registered, by its path.
  init(plugins: [String: [TaskIdentifier]], directory: StateDirectory, store: StoreFiles, board: ProblemBoard, log: Logger) {
    self.plugins = plugins
    self.directory = directory
    self.store = store
    self.board = board
    self.log = log
    do throws(WatchFailure) {
      let watches = try FileWatches(changed: { [weak self] in self?.look($0) }, failed: { [weak self] in self?.fail($0) })
      self.watches.withLock { $0 = watches }
      for (path, problem) in watches.watch(store.watched.union(plugins.keys).union([directory.lockFile])).sorted(by: { $0.key < $1.key }) {
        fail("\(path) is not watched: \(problem)", of: path)
      }
      lookAtLock()
    } catch { fail("\(error)") }
  }

  /// The path of the store's database.
  var storePath: String { store.path }

  /// Stops watching; reports nothing afterwards.
  func stop() {
    let watches = watches.withLock { watches in
      defer { watches = nil }
      return watches
    }
    watches?.stop()
  }

  /// Handles a change of a file, on the watches' thread.
  private func look(_ path: String) {
    if let identifiers = plugins[path] {
      look(path, identifiers)
    } else if path == directory.lockFile {
      lookAtLock()
    } else {
      lookAtStore()
    }
  }

  /// Whether the state directory's lock exists; recreates it. Any thread.
  func lookAtLock() {
    switch directory.keepLock() {
    case .kept: break
    case .madeAgain(let seen):
      let problem = problem(
        .stateDirectory, of: directory.path, "\(seen), and the host has made it again",
        remedy: "find out who deletes or replaces files in \(directory.path) while a host runs", needsAction: false)
      board.raise(problem)
      log.warning("\(problem.text)")
    case .lost(let seen):
      let problem = problem(
        .stateDirectory, of: directory.path, seen,
        remedy: "delete and replace nothing in \(directory.path) while a host runs; stop the host, and start it again")
      board.raise(problem, to: log, .critical)
    }
  }

  /// Whether the store's files are those that the host has open, and as long as they were. From any thread.
  ///
  /// - Returns: Why they are not; nil: they are.
  @discardableResult
  func lookAtStore() -> StoreError? {
    let error = store.check()
    if let error {
      let problem = problem(
        .storeReplaced, of: store.path, "\(error.observed); submissions are refused, and no runs start",
        remedy: error.remedy ?? "restart the host")
      board.raise(problem, to: log, .critical)
    } else if board.clear(.storeReplaced, of: store.path) {
      log.notice("the store's files are those again that the host has open")
    }
    return error
  }

  private func look(_ path: String, _ identifiers: [TaskIdentifier]) {
    var status = stat()
    guard lstat(path, &status) != 0, errno == ENOENT || errno == ENOTDIR else {
      if board.clear(.pluginGone, of: path) { log.notice("the plugin file is there again", metadata: ["file": "\(path)"]) }
      return
    }
    let names = identifiers.map(\.rawValue).sorted().joined(separator: ", ")
    let problem = problem(
      .pluginGone, of: path, "the plugin file \(path) is gone; what it registered (\(names)) runs on until the host ends",
      remedy: "put the file back, or cancel its requests and restart the host")
    board.raise(problem, to: log)
  }

  /// The check of the store has a result.
  func checked(_ result: StoreCheck.Result) {
    switch result {
    case .checking: break
    case .whole(let pages): log.info("the store is whole", metadata: ["pages": "\(pages)"])
    case .impossible(let reason, let remedy):
      board.raise(
        problem(.storeUnchecked, of: store.path, "the store is not checked for damage: \(reason)", remedy: remedy, needsAction: false),
        to: log)
    case .damaged(let pages, let count):
      let problem = problem(
        .storeDamaged, of: store.path,
        "the store is damaged: \(count == 1 ? "1 page is" : "\(count) pages are") not as written, \(pages.map(String.init).joined(separator: ", "))\(count > pages.count ? ", …" : "") of \(store.path)",
        remedy:
          "stop the host, restore the state directory from a copy, and have the disk and the memory of the machine checked; a store that was mended by hand is taken as it is once \(store.path).sums is deleted"
      )
      let isNews = damagedPages.withLock { known in
        guard count > known else { return false }
        known = count
        board.raise(problem)
        return true
      }
      if isNews { log.critical("\(problem.text)") }
    }
  }

  /// Handles the loss of the store's page checksums.
  func lostChecksums(_ loss: String) {
    let problem = problem(
      .storeUnchecked, of: store.path + ".sums",
      "\(loss): its checksums begin anew, and damage from before this launch cannot be found",
      remedy: "restore the state directory from a copy if the store may be damaged; this goes with the next launch", needsAction: false)
    board.raise(problem, to: log)
  }

  private func fail(_ sentence: String, of path: String? = nil) {
    let problem = problem(
      .unwatched, of: path, "a plugin file that goes, or a store that is replaced, is noticed late: \(sentence)",
      remedy: "restart the host", needsAction: false)
    board.raise(problem, to: log)
  }

  private func problem(
    _ kind: Problem.Kind, of subject: String?, _ sentence: String, remedy: String, needsAction: Bool = true
  ) -> Problem {
    Problem(kind, of: subject, sentence, remedy: remedy, since: SystemClock().wallTime, needsAction: needsAction)
  }
}
