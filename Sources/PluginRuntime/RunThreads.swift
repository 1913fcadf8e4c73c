import CTaskHost
import DequeModule
import HostThreads
import TaskModel

/// The threads of one plugin. Each serves one run at a time and never another plugin.
///
/// An idle thread is kept for a while, because waking it costs a tenth of creating one. The thread that was busy last is woken first, so
/// that unneeded threads end. A thread whose run was stopped by force is never used again: it ends when the handler returns.
final class RunThreads: Sendable {
  /// Where an idle thread waits for its run.
  private typealias Seat = Guarded<LiveRun?>

  private struct State {
    /// The maximum number of threads; more may be there if it was lowered.
    var limit: Int
    /// Runs that wait for a thread; none while one is idle.
    var queue = Deque<LiveRun>()
    var idle: [Seat] = []
    /// The number of busy, idle and starting threads, without those whose run was stopped by force.
    var threads = 0
    var starting = 0

    /// The number of threads to create for waiting runs; they count as existing.
    mutating func claimThreads() -> Int {
      let missing = max(0, min(queue.count - starting, limit - threads))
      threads += missing
      starting += missing
      return missing
    }
  }

  private let name: String
  private let idleness: IdleAllowance
  private let execute: @Sendable (LiveRun) -> Bool
  private let refuse: @Sendable ([LiveRun], String) -> Void
  private let state: Guarded<State>

  /// - Parameters:
  ///   - limit: The maximum number of threads. Further runs wait for a thread to become free.
  ///   - idleness: How long a thread without a run is kept.
  ///   - execute: Serves a run on the calling thread. Returns false if the thread must not be used again.
  ///   - refuse: Returns the runs for which no thread could be created.
  init(
    name: String, limit: Int, idleness: IdleAllowance, execute: @escaping @Sendable (LiveRun) -> Bool,
    refuse: @escaping @Sendable ([LiveRun], String) -> Void
  ) {
    self.name = name
    state = Guarded(State(limit: limit))
    self.idleness = idleness
    self.execute = execute
    self.refuse = refuse
  }

  /// Gives each run a thread, an idle one first.
  func start(_ runs: [LiveRun]) {
    let missing = state.withLock { state in
      for run in runs {
        if let seat = state.idle.popLast() {
          seat.withLock { $0 = run }
          seat.signal()
        } else {
          state.queue.append(run)
        }
      }
      return state.claimThreads()
    }
    makeThreads(missing)
  }

  /// Sets the maximum number of threads.
  func limit(to limit: Int) {
    let missing = state.withLock { state in
      state.limit = limit
      return state.claimThreads()
    }
    makeThreads(missing)
  }

  /// Replaces a thread whose run was stopped by force, if runs wait.
  func abandonThread() {
    let missing = state.withLock { state in
      state.threads -= 1
      return state.claimThreads()
    }
    makeThreads(missing)
  }

  private func makeThreads(_ count: Int) {
    for _ in 0..<count {
      do { try HostThread.start(name) { [self] in serve() } } catch { threadNotMade(error.description) }
    }
  }

  /// If no thread is left, the waiting runs end immediately; otherwise they wait for the existing threads.
  private func threadNotMade(_ reason: String) {
    let stranded = state.withLock { state -> [LiveRun] in
      state.threads -= 1
      state.starting -= 1
      guard state.threads == 0 else { return [] }
      defer { state.queue.removeAll() }
      return Array(state.queue)
    }
    if !stranded.isEmpty { refuse(stranded, reason) }
  }

  /// Removes waiting runs that must not begin.
  func forget(_ runs: Set<ObjectIdentifier>) { state.withLock { $0.queue.removeAll { runs.contains(ObjectIdentifier($0)) } } }

  private func serve() {
    let seat = Seat(nil)
    state.withLock { $0.starting -= 1 }
    while let run = next(seat) {
      // An abandoned thread no longer counts.
      guard execute(run) else { return }
    }
  }

  /// The next run; nil if none came in time. Then the thread no longer counts.
  private func next(_ seat: Seat) -> LiveRun? {
    let queued = state.withLock { state -> LiveRun? in
      if let run = state.queue.popFirst() { return run }
      state.idle.append(seat)
      return nil
    }
    if let queued { return queued }
    let time = idleness.enter()
    defer { idleness.leave() }
    if let run = seat.wait(until: SystemClock.now + time, for: { $0.take() }) { return run }
    let isFree = state.withLock { state in
      guard let position = state.idle.firstIndex(where: { $0 === seat }) else { return false }
      state.idle.remove(at: position)
      state.threads -= 1
      return true
    }
    // If the seat was taken at the last moment, its run is already there.
    return isFree ? nil : seat.withLock { $0.take() }
  }
}
