import CTaskHost
import DequeModule
import HostThreads
import TaskModel

/// The threads of one plugin. Each serves one run at a time and never another plugin.
///
/// An idle thread is kept for a while, because waking it costs a tenth of creating one. The thread that was busy last is woken first, so
/// that unneeded threads end. A thread whose run was stopped by force is never used again: it ends when the handler returns.
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
  /// The number of busy, idle and starting threads, without those whose run was stopped by force.
  private var threads = 0
  private var starting = 0

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

  /// Replaces a thread whose run was stopped by force, if runs wait.
  func abandonThread() {
    let missing = monitor.locked {
      threads -= 1
      return claimThreads()
    }
    makeThreads(missing)
  }

  /// With the lock held: the number of threads to create for waiting runs; they count as existing.
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

  /// If no thread is left, the waiting runs end immediately; otherwise they wait for the existing threads.
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

  /// Removes waiting runs that must not begin.
  func forget(_ runs: Set<ObjectIdentifier>) { monitor.locked { queue.removeAll { runs.contains(ObjectIdentifier($0)) } } }

  private func serve() {
    let seat = Seat()
    monitor.locked { starting -= 1 }
    while let run = next(seat) {
      // An abandoned thread no longer counts.
      guard execute(run) else { return }
    }
  }

  /// The next run; nil if none came in time. Then the thread no longer counts.
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
    // If the seat was taken at the last moment, its run is already there.
    return isFree ? nil : seat.take(by: .distantFuture)
  }
}
