import CTaskHost
import DequeModule
import HostThreads
import TaskModel

/// The threads of one plugin: each serves one run at a time, and no other plugin ever.
///
/// An idle thread is kept for a while, because waking it costs a tenth of making one. A thread whose run was stopped by force is never
/// used again: it ends when the handler returns.
final class RunThreads: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let name: String
  private let limit: Int
  private let execute: @Sendable (LiveRun) -> Bool
  private let refuse: @Sendable (LiveRun, String) -> Void
  private let monitor = Monitor()
  private var queue = Deque<LiveRun>()
  private var idle = 0
  /// Those in use, idle or starting; not those whose run was stopped by force.
  private var threads = 0
  private var starting = 0
  private static let idleTime = Duration.seconds(10)

  /// - Parameters:
  ///   - limit: How many threads serve at once. A run beyond it waits for one that is about to be free.
  ///   - execute: Serves a run on the calling thread; false: the thread is not to be used again.
  ///   - refuse: Ends a run that no thread could be made for.
  init(
    name: String, limit: Int, execute: @escaping @Sendable (LiveRun) -> Bool, refuse: @escaping @Sendable (LiveRun, String) -> Void
  ) {
    self.name = name
    self.limit = limit
    self.execute = execute
    self.refuse = refuse
  }

  /// Gives each run a thread, an idle one first.
  func start(_ runs: [LiveRun]) {
    monitor.lock()
    queue.append(contentsOf: runs)
    for _ in 0..<min(runs.count, idle) { monitor.signal() }
    let missing = max(0, min(queue.count - idle - starting, limit - threads))
    threads += missing
    starting += missing
    monitor.unlock()
    for _ in 0..<missing {
      do { try HostThread.start(name) { [self] in serve() } } catch { threadNotMade(error.description) }
    }
  }

  /// A thread's run was stopped by force: another may take its place.
  func abandonThread() { monitor.locked { threads -= 1 } }

  /// Runs that no thread is left for end at once; others wait for the threads there are.
  private func threadNotMade(_ reason: String) {
    let stranded = monitor.locked { () -> [LiveRun] in
      threads -= 1
      starting -= 1
      guard threads == 0 else { return [] }
      defer { queue.removeAll() }
      return Array(queue)
    }
    for run in stranded { refuse(run, reason) }
  }

  private func serve() {
    monitor.lock()
    starting -= 1
    while true {
      if let run = queue.popFirst() {
        monitor.unlock()
        // A thread that was abandoned is not counted any more.
        guard execute(run) else { return }
        monitor.lock()
        continue
      }
      idle += 1
      let signalled = monitor.wait(until: SystemClock.now + Self.idleTime)
      idle -= 1
      if !signalled && queue.isEmpty { break }
    }
    threads -= 1
    monitor.unlock()
  }
}
