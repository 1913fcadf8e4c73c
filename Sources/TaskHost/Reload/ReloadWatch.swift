import HostThreads
import HostWatches
import Logging
import TaskModel

/// Watches what a reload would read: offers a reload when it has changed, or asks for one. Its thread sleeps while nothing changes.
final class ReloadWatch: Sendable {
  private struct State {
    var watch: ReloadWatchState
    var places: ReloadPlaces
    var isOver = false
    var hasEnded = false
  }

  private let state: Guarded<State>
  private let watches: FileWatches
  private let board: ProblemBoard
  private let log: Logger
  /// Asks for a reload. Returns at once.
  private let reload: @Sendable () -> Void

  /// How many changed paths a problem names.
  private static let named = 3

  /// - Parameters:
  ///   - inForce: What the configuration in force was made of.
  ///   - reload: Called on the watch's thread when files have changed and come to rest, with `reload = "auto"`.
  /// - Throws: If the kernel, or the limits of the machine, allow no watch. Without a thread, it watches nothing and says so.
  init(
    _ configuration: HostConfiguration, _ inForce: ReloadSources, interval: Duration = .seconds(1), patience: Duration = .seconds(60),
    board: ProblemBoard, log: Logger, reload: @escaping @Sendable () -> Void
  ) throws(WatchFailure) {
    let state = Guarded(
      State(
        watch: ReloadWatchState(inForce, configuration.reload, interval: interval, patience: patience),
        places: ReloadPlaces(configuration)))
    (self.state, self.board, self.log, self.reload) = (state, board, log, reload)
    watches = try FileWatches { _ in
      state.withLock { $0.watch.touched(at: SystemClock.now) }
      state.broadcast()
    } failed: { sentence in
      Self.fail(sentence, nil, board, log)
    }
    do throws(HostThread.Failure) { try HostThread.start("reload-watch") { self.run() } } catch {
      watches.stop()
      state.withLock { $0.hasEnded = true }
      Self.fail("\(error)", nil, board, log)
    }
  }

  /// Ends the watch, and waits for its end.
  func stop() {
    state.withLock { $0.isOver = true }
    state.broadcast()
    _ = state.wait { (state) -> Bool? in state.hasEnded ? true : nil }
    watches.stop()
  }

  /// A reload has put a configuration in force.
  func reloaded(_ configuration: HostConfiguration, _ sources: ReloadSources) {
    state.withLock { state in
      state.places = ReloadPlaces(configuration)
      state.watch.reloaded(sources, configuration.reload, at: SystemClock.now)
    }
    state.broadcast()
    withdraw()
  }

  /// A reload that the watch asked for has changed nothing.
  func failed(_ problems: [String]) {
    let shown = problems.prefix(Self.named).joined(separator: "; ") + (problems.count > Self.named ? "; …" : "")
    board.clear(.reloadPending)
    board.clear(.reloadFailed)
    board.raise(
      Problem(
        .reloadFailed, "the changed files are not in force: \(shown)",
        remedy: "correct that, and the host tries again; taskhost reload --dry-run says whether all is well", since: SystemClock().wallTime)
    )
  }

  private func withdraw() {
    let hadOffer = board.clear(.reloadPending)
    let hadFailed = board.clear(.reloadFailed)
    if hadOffer || hadFailed { log.info("the files that a reload would read are in force") }
  }

  // MARK: The thread

  private func run() {
    var watched: ReloadPlaces?
    // What has changed between the launch's look and the first watch is seen then.
    state.withLock { $0.watch.touched(at: SystemClock.now) }
    while true {
      let next: (places: ReloadPlaces, looks: Bool)? = state.wait { state in
        if state.isOver { return .done(nil) }
        if state.places != watched { return .done((state.places, false)) }
        guard let due = state.watch.nextLook else { return .again() }
        guard due <= SystemClock.now else { return .again(by: due) }
        state.watch.beginLook()
        return .done((state.places, true))
      }
      guard let next else { break }
      if next.looks { look(at: next.places) } else { watch(next.places) }
      watched = next.places
    }
    state.withLock { $0.hasEnded = true }
    state.broadcast()
  }

  private func watch(_ places: ReloadPlaces) {
    let problems = watches.watch(places.paths)
    for path in places.paths {
      guard let problem = problems[path] else {
        board.clear(.unwatched, of: path)
        continue
      }
      Self.fail("\(path) is not watched: \(problem)", path, board, log)
    }
  }

  private func look(at places: ReloadPlaces) {
    let sources = ReloadSources(at: places)
    let changed = state.withLock { $0.watch.inForce }.changes(to: sources)
    let isOpen = !changed.isEmpty && sources.hasOpen(among: changed)
    let action = state.withLock { state in
      // A reload may have changed the places meanwhile: then this look says nothing.
      state.places == places ? state.watch.looked(sources, isOpen: isOpen, at: SystemClock.now) : nil
    }
    switch action {
    case .withdraw?: withdraw()
    case .offer(let paths)?: offer(paths)
    case .reload?:
      log.notice("changed files have come to rest: the host reloads", metadata: ["files": "\(Self.text(changed))"])
      reload()
    case nil: break
    }
  }

  private func offer(_ paths: [String]) {
    let problem = Problem(
      .reloadPending, "changed since the last reload: \(Self.text(paths))",
      remedy: "taskhost reload puts it in force, and with --dry-run says what would change", since: SystemClock().wallTime,
      needsAction: false)
    board.clear(.reloadPending)
    board.raise(problem, to: log, .notice)
  }

  private static func text(_ paths: [String]) -> String {
    paths.prefix(named).map(\.escapingControlCharacters).joined(separator: ", ")
      + (paths.count > named ? " and \(paths.count - named) more" : "")
  }

  private static func fail(_ sentence: String, _ path: String?, _ board: ProblemBoard, _ log: Logger) {
    board.raise(
      Problem(
        .unwatched, of: path, "changes of the configuration and of plugins are not noticed: \(sentence)",
        remedy: "taskhost reload after a change", since: SystemClock().wallTime, needsAction: false), to: log)
  }

  /// Says that nothing is watched.
  static func fail(_ failure: WatchFailure, _ board: ProblemBoard, _ log: Logger) { fail("\(failure)", nil, board, log) }
}
