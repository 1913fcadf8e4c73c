import HostThreads

/// Passes changes of watched files on to the scheduler, of each file one at a time: whoever may write into a watched folder can change it faster
/// than the store records. What the store does not take is passed on when it works again.
final class FileEvents: Sendable {
  private struct State {
    /// The files whose change the scheduler has.
    var underway: Set<String> = []
    /// Those of them that have changed since.
    var again: Set<String> = []
    /// The files whose change the store did not take.
    var owed: Set<String> = []
  }

  private let state = Guarded(State())
  private let notify: @Sendable (_ path: String, _ recorded: @escaping @Sendable (Bool) -> Void) -> Void

  /// - Parameter notify: Passes a change of the file on, and says once whether it is durable. Returns immediately.
  init(_ notify: @escaping @Sendable (_ path: String, _ recorded: @escaping @Sendable (Bool) -> Void) -> Void) { self.notify = notify }

  /// A file has changed.
  func changed(_ path: String) {
    let isFirst = state.withLock { state in
      guard state.underway.insert(path).inserted else {
        state.again.insert(path)
        return false
      }
      state.owed.remove(path)
      return true
    }
    if isFirst { pass(path) }
  }

  /// The store works again.
  func storeRecovered() {
    for path in state.withLock({ $0.owed }).sorted() { changed(path) }
  }

  private func pass(_ path: String) {
    notify(path) { [self] isRecorded in
      let isDue = state.withLock { state in
        let hasChanged = state.again.remove(path) != nil
        if isRecorded, hasChanged { return true }
        state.underway.remove(path)
        if !isRecorded { state.owed.insert(path) }
        return false
      }
      if isDue { pass(path) }
    }
  }
}
