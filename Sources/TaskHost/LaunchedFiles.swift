import Glibc
import HostThreads
import HostWatches
import Logging
import TaskModel
import TaskStore

/// Watches the host's files for deleted plugins, for a store that was deleted, replaced or cut short, and for the loss of the lock file.
final class LaunchedFiles: Sendable {
  private let plugins: Guarded<[String: [TaskIdentifier]]>
  private let directory: StateDirectory
  private let store: StoreFiles
  private let board: ProblemBoard
  private let log: Logger
  private let watches = Guarded<FileWatches?>(nil)
  /// The number of damaged pages that were logged.
  private let damagedPages = Guarded(0)

  /// - Parameter plugins: The registered identifiers, by file path.
  init(plugins: [String: [TaskIdentifier]], directory: StateDirectory, store: StoreFiles, board: ProblemBoard, log: Logger) {
    self.plugins = Guarded(plugins)
    self.directory = directory
    self.store = store
    self.board = board
    self.log = log
    do throws(WatchFailure) {
      let watches = try FileWatches(changed: { [weak self] in self?.look($0) }, failed: { [weak self] in self?.fail($0) })
      self.watches.withLock { $0 = watches }
      watch(plugins.keys)
      lookAtLock()
    } catch { fail("\(error)") }
  }

  private func watch(_ files: some Sequence<String>) {
    guard let watches = watches.withLock({ $0 }) else { return }
    for (path, problem) in watches.watch(store.watched.union(files).union([directory.lockFile])).sorted(by: { $0.key < $1.key }) {
      fail("\(path) is not watched: \(problem)", of: path)
    }
  }

  /// Watches these plugins from now on instead of others. May block.
  func replace(with next: [String: [TaskIdentifier]]) {
    let before = plugins.withLock { plugins in
      defer { plugins = next }
      return plugins
    }
    for path in before.keys where next[path] == nil { board.clear(.pluginGone, of: path) }
    watch(next.keys)
  }

  var storePath: String { store.path }

  /// Ends the watch; nothing is reported afterwards.
  func stop() {
    let watches = watches.withLock { watches in
      defer { watches = nil }
      return watches
    }
    watches?.stop()
  }

  /// Called on the watches' thread when a file may have changed.
  private func look(_ path: String) {
    if let identifiers = plugins.withLock({ $0[path] }) {
      look(path, identifiers)
    } else if path == directory.lockFile {
      lookAtLock()
    } else {
      lookAtStore()
    }
  }

  /// Recreates a missing lock file of the state directory. Any thread.
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

  /// Checks that the store's files are those that the host has open, and not cut short. Any thread.
  ///
  /// - Returns: Nil if they are.
  @discardableResult
  func lookAtStore() -> StoreError? {
    let error = store.check()
    if let error {
      let problem = problem(
        .storeReplaced, of: store.path, "\(error.observed); submissions are refused, and no runs start",
        remedy: error.remedy ?? "restart the host")
      board.raise(problem, to: log, .critical)
    } else if board.clear(.storeReplaced, of: store.path) {
      log.notice("the store's files are again those that the host has open")
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

  func lostChecksums(_ loss: String) {
    let problem = problem(
      .storeUnchecked, of: store.path + ".sums",
      "\(loss): its checksums begin anew, and damage from before this launch cannot be found",
      remedy: "restore the state directory from a copy if the store may be damaged; this goes with the next launch", needsAction: false)
    board.raise(problem, to: log)
  }

  private func fail(_ sentence: String, of path: String? = nil) {
    let problem = problem(
      .unwatched, of: path, "a deleted plugin file or a replaced store is noticed late: \(sentence)",
      remedy: "restart the host", needsAction: false)
    board.raise(problem, to: log)
  }

  private func problem(
    _ kind: Problem.Kind, of subject: String?, _ sentence: String, remedy: String, needsAction: Bool = true
  ) -> Problem {
    Problem(kind, of: subject, sentence, remedy: remedy, since: SystemClock().wallTime, needsAction: needsAction)
  }
}
