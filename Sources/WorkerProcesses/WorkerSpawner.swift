import Glibc
import DequeModule
public import HostThreads

/// The one thread that starts worker processes.
///
/// A worker dies with the thread that started it (`PR_SET_PDEATHSIG`), so this one lives as long as the host.
public final class WorkerSpawner: Sendable {
  private struct State {
    var jobs = Deque<@Sendable () -> Void>()
    var hasEnded = false
  }

  private let state = Guarded(State())
  /// For a job, or the end. Taken before the lock of `state`.
  private let waiting = Monitor()

  /// Starts the thread.
  public init() throws(HostThread.Failure) { try HostThread.start("spawner") { [self] in serve() } }

  /// Does `job` on the thread, after those given before.
  func perform(_ job: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.hasEnded { $0.jobs.append(job) } }
    waiting.locked { waiting.signal() }
  }

  /// Ends the thread, and with it every worker that is left.
  public func end() {
    state.withLock { $0.hasEnded = true }
    waiting.locked { waiting.signal() }
  }

  private func serve() {
    while let job = next() { job() }
  }

  private func next() -> (@Sendable () -> Void)? {
    waiting.locked {
      while true {
        let (job, hasEnded) = state.withLock { ($0.hasEnded ? nil : $0.jobs.popFirst(), $0.hasEnded) }
        if job != nil || hasEnded { return job }
        waiting.wait()
      }
    }
  }
}
