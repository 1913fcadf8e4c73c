import CTaskHost
import DequeModule
import HostThreads
import TaskModel

/// The threads of one plugin: each serves one run at a time, and no other plugin ever.
///
/// An idle thread is kept for a while, because waking it costs a tenth of making one; the one that was busy last is woken first, so those
/// that are not needed end. A thread whose run was stopped by force is never used again: it ends when the handler returns.
final class RunThreads: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  /// Where an idle thread waits for its run.
  private final class Seat {
    let monitor = Monitor()
    var run: LiveRun?

    func give(_ run: LiveRun) {
      monitor.locked {
        self.run = run
        monitor.signal()
      }
    }

    /// Nil if `deadline` came.
    func take(by deadline: MonotonicTime) -> LiveRun? {
      monitor.locked {
        while run == nil, monitor.wait(until: deadline) {}
        defer { run = nil }
        return run
      }
    }
  }

  private let name: String
  private let limit: Int
  private let idleness: IdleAllowance
  private let execute: @Sendable (LiveRun) -> Bool
  private let refuse: @Sendable ([LiveRun], String) -> Void
  private let monitor = Monitor()
  /// Runs that wait for a thread; none while one is idle.
  private var queue = Deque<LiveRun>()
  private var idle: [Seat] = []
  /// Those in use, idle or starting; not those whose run was stopped by force.
  private var threads = 0
  private var starting = 0

  /// - Parameters:
  ///   - limit: How many threads serve at once. A run beyond it waits for one that is about to be free.
  ///   - idleness: How long a thread without a run is kept.
  ///   - execute: Serves a run on the calling thread; false: the thread is not to be used again.
  ///   - refuse: Gives back the runs that no thread could be made for.
  init(
    name: String, limit: Int, idleness: IdleAllowance, execute: @escaping @Sendable (LiveRun) -> Bool,
    refuse: @escaping @Sendable ([LiveRun], String) -> Void
  ) {
    self.name = name
    self.limit = limit
    self.idleness = idleness
    self.execute = execute
    self.refuse = refuse
  }

  /// Gives each run a thread, an idle one first.
  func start(_ runs: [LiveRun]) {
    monitor.lock()
    for run in runs {
      if let seat = idle.popLast() { seat.give(run) } else { queue.append(run) }
    }
    let missing = claimThreads()
    monitor.unlock()
    makeThreads(missing)
  }

  /// A thread's run was stopped by force: another takes its place if runs wait.
  func abandonThread() {
    let missing = monitor.locked {
      threads -= 1
      return claimThreads()
    }
    makeThreads(missing)
  }

  /// With the lock held: how many threads are to be made for the runs that wait; they count as made.
  private func claimThreads() -> Int {
    let missing = max(0, min(queue.count - starting, limit - threads))
    threads += missing
    starting += missing
    return missing
  }

  private func makeThreads(_ count: Int) {
    for _ in 0..<count {
      do { try HostThread.start(name) { [self] in serve() } } catch { threadNotMade(error.description) }
    }
  }

  /// Runs that no thread is left for end at once; others wait for the threads there are.
  private func threadNotMade(_ reason: String) {
    let stranded = monitor.locked { () -> [LiveRun] in
      threads -= 1
      starting -= 1
      guard threads == 0 else { return [] }
      defer { queue.removeAll() }
      return Array(queue)
    }
    if !stranded.isEmpty { refuse(stranded, reason) }
  }

  /// Forgets runs that wait for a thread and are not to begin.
  func forget(_ runs: Set<ObjectIdentifier>) { monitor.locked { queue.removeAll { runs.contains(ObjectIdentifier($0)) } } }

  private func serve() {
    let seat = Seat()
    monitor.locked { starting -= 1 }
    while let run = next(seat) {
      // A thread that was abandoned is not counted any more.
      guard execute(run) else { return }
    }
  }

  /// The next run; nil if none came while the thread was idle, and it is not counted any more.
  private func next(_ seat: Seat) -> LiveRun? {
    monitor.lock()
    if let run = queue.popFirst() {
      monitor.unlock()
      return run
    }
    idle.append(seat)
    monitor.unlock()
    let time = idleness.enter()
    defer { idleness.leave() }
    if let run = seat.take(by: SystemClock.now + time) { return run }
    let isFree = monitor.locked { () -> Bool in
      guard let position = idle.firstIndex(where: { $0 === seat }) else { return false }
      idle.remove(at: position)
      threads -= 1
      return true
    }
    // Where the seat was taken in the last moment, its run is there.
    return isFree ? nil : seat.take(by: .distantFuture)
  }
}
