import HostThreads
import Logging
import TaskModel
import TaskStore
import ValueSealing

/// Tells what becomes of the store's values: that they are being sealed, what is left to do by hand, which do not open.
final class SealingWatch: Sendable {
  private let path: String
  private let board: ProblemBoard
  private let log: Logger
  /// The damaged values that were told, at most ``most``.
  private let told = Guarded<Set<String>>([])
  private static let most = 100

  init(_ path: String, _ board: ProblemBoard, _ log: Logger) { (self.path, self.board, self.log) = (path, board, log) }

  /// Begins to seal what is not sealed yet, and to tell of it.
  func begin(_ store: SQLiteRequestStore) {
    store.observeDamagedValues { [self] in damaged($0) }
    do throws(HostThread.Failure) { try store.beginResealing { [self] in receive($0) } } catch {
      board.raise(
        problem("the values of the store are not being sealed: \(error)", remedy: "give the host more threads, and restart it"), to: log)
    }
  }

  private func receive(_ step: SealingProgress) {
    switch step {
    case .changing(let key, let done):
      let so = key.map { "sealed with the key \($0)" } ?? "written plain again"
      let count = done == 0 ? "" : "; \(done) so far"
      let sentence = "the values of the store are being \(so)\(count)"
      board.raise(problem(sentence, remedy: "let the host go on; keep the earlier keys until then", needsAction: false))
      log.info("\(sentence)")
    case .whole(nil, _, let done):
      board.clear(.encryption)
      log.notice("the \(done) values of the store that were sealed are plain again: [encryption] may be removed")
    case .whole(let key?, let isClean, let done):
      // The status is right before the log says that it is done.
      if isClean {
        board.clear(.encryption)
      } else {
        board.raise(
          problem(
            "every value of the store is sealed, but unused space of \(path) may have some that were plain before",
            remedy: "stop the host, write the file anew (taskhost store vacuum), and start the host again"), to: log)
      }
      guard done > 0 else { return }
      log.notice("the values of the store are sealed with the key \(key), and no other key is needed", metadata: ["values": "\(done)"])
    case .damaged(let first, let count):
      board.raise(
        problem(
          "\(count == 1 ? "1 value" : "\(count) values") of the store cannot be sealed anew: \(first)",
          remedy: "see taskhost store check; restore a backup, or remove what has them, and restart the host"), to: log, .error)
    case .failing(let error):
      board.raise(
        problem("the values of the store cannot be sealed now: \(error.observed)", remedy: error.remedy ?? "see the host's log"), to: log)
    }
  }

  private func problem(_ sentence: String, remedy: String, needsAction: Bool = true) -> Problem {
    Problem(.encryption, sentence, remedy: remedy, since: SystemClock().wallTime, needsAction: needsAction)
  }

  /// A value was needed and does not open.
  private func damaged(_ sentence: String) {
    let isNews = told.withLock { $0.count < Self.most && $0.insert(sentence).inserted }
    guard isNews else { return }
    let problem = Problem(
      .storeDamaged, of: "\(path): values", sentence,
      remedy: "restore a backup if it is needed; taskhost store check lists all such values", since: SystemClock().wallTime)
    board.raise(problem)
    log.error("\(problem.text)")
  }
}

extension Host {
  /// The keys of the store by another configuration, which the store can be used with.
  func sealing(for configuration: HostConfiguration) throws(HostFailure) -> StoreSealing? {
    let sealing = try configuration.sealing()
    do { try store.check(sealing) } catch { throw HostFailure(.configuration, "store \(launchedFiles.storePath): \(error)") }
    return sealing
  }

  /// Seals with other keys from now on, if they differ from those in force.
  func adopt(_ sealing: StoreSealing?) {
    guard store.sealing?.keys.ids != sealing?.keys.ids || store.sealing?.target != sealing?.target else { return }
    do throws(StoreError) {
      try store.adopt(sealing)
      log.notice(
        "the store: \(sealing?.target.map { "values are sealed with the key \($0) from now on" } ?? "values are written plain from now on")"
      )
    } catch { log.error("the store's keys are not changed: \(error); reload again") }
  }
}
